-- The day on which weeks of reports begin: 1 is Monday, 7 is Sunday.
alter table organization add column first_weekday smallint not null default 1 check (first_weekday between 1 and 7);
