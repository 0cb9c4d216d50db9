alter table queue_list add column conditions jsonb; -- of the rows that are sent
alter table queue_import add column rows_left_out integer not null default 0 check (rows_left_out >= 0);
