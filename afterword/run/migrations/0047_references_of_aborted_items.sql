-- no transaction
create index concurrently queue_item_aborted_reference on queue_item (organization_id, external_reference)
  where status = 7 and external_reference is not null and deleted_time is null; -- those that no longer hold their reference
