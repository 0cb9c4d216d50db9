-- The sending engine.
set local lock_timeout = '4s';

-- One row: whether anything may be sent. It travels with the database, so what it says of the past is as old as the
-- database is, and a pause stops the workers on every machine.
create table sending_guard (
  is_single boolean primary key default true check (is_single),
  installation_id text collate "C" not null default gen_random_uuid()::text, -- copies and restored backups share it
  confirmed_time timestamptz not null default now(), -- the last time that a person said: send
  watched_time timestamptz not null default now(), -- the last time that a worker found all well
  paused_time timestamptz,
  paused_reason text check (length(paused_reason) between 1 and 500),
  check ((paused_time is null) = (paused_reason is null))
);
insert into sending_guard default values;
