-- As of users: a token sees data with one of these values of a metadata name alone.
alter table token
  add column only_where text check (length(only_where) between 1 and 100),
  add column only_values text[] not null default '{}' check (cardinality(only_values) <= 50),
  add constraint token_only check ((only_where is null) = (only_values = '{}'));
