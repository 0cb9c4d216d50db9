-- Workers and the timeline on which each has compared what it sent; what the last change of servers lost.
set local lock_timeout = '4s';

create table sending_worker (
  run_id uuid primary key,
  timeline bigint not null,
  seen_time timestamptz not null default now()
);
alter table sending_guard
  add column loss_timeline bigint,
  add column loss_time timestamptz,
  add column lost_items integer not null default 0,
  add column lost_events bigint not null default 0,
  add column recorded_again integer not null default 0,
  add check ((loss_timeline is null) = (loss_time is null));
