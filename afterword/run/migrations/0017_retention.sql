-- Retention of the queue.
set local lock_timeout = '4s';

create table pruned_total ( -- how many items of each status retention has removed, for the operator's figures
  status smallint primary key check (status between 4 and 8),
  total bigint not null
);
