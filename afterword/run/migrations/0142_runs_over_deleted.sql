-- Runs of retention over what was deleted.
set local lock_timeout = '4s';
alter table retention_run drop constraint retention_run_kind_check, add constraint retention_run_kind_check
  check (kind in ('texts', 'people', 'items', 'uploads', 'answers', 'events', 'audit', 'exports', 'deleted'));
