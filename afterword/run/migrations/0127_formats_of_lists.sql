-- How the dates and numbers of a column of a list are written: the order of day and month, the decimal sign.
set local lock_timeout = '4s';

alter table queue_list add column formats jsonb not null default '{}';
