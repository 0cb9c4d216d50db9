-- Backups that were begun, so that metrics and the doctor tell of a late one.
create table backup (
  backup_id text collate "C" primary key,
  kind text not null check (kind in ('whole', 'organization', 'migration')),
  started_time timestamptz not null default now(),
  finished_time timestamptz,
  bytes bigint,
  check ((finished_time is null) = (bytes is null))
);
create index backup_finished on backup (finished_time) where kind <> 'organization';
