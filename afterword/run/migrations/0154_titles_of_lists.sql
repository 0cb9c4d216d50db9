-- Rows around the table of a list that are none of it, and whether rows of one order make one message.
set local lock_timeout = '4s';

alter table queue_list
  add column rows_above smallint not null default 0,
  add column rows_below smallint not null default 0,
  add column joins_rows boolean not null default false;
