-- The queue: business keys, bulk.
set local lock_timeout = '4s';

-- pipelines: items keep pointing at one that was deleted, so its row stays --------------------------------------
alter table pipeline add column deleted_time timestamptz;
alter table pipeline add constraint pipeline_period check (start_time is null or end_time is null or start_time < end_time);
alter table pipeline add constraint pipeline_deleted check (deleted_time is null or slug is null);
