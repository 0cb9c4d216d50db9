-- no transaction
create index concurrently queue_item_state on queue_item (organization_id, status, coalesce(reason, ''), send_time desc, item_id)
  include (reason, pipeline_id, test) where status not in (2, 3) and deleted_time is null; -- items of all pipelines
