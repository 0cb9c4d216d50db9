-- Workers and the timeline on which each has compared what it sent; what the last change of servers lost.
set local lock_timeout = '4s';

create table sending_worker (
  run_id uuid primary key,
  timeline bigint not null,
  seen_time timestamptz not null default now()
);
alter table sending_guard
  add column loss_time timestamptz,
  add column loss_text text check (length(loss_text) between 1 and 500),
  add check ((loss_time is null) = (loss_text is null));
