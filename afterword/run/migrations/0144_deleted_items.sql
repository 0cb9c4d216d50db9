-- no transaction
create index concurrently queue_item_deleted on queue_item (organization_id, deleted_time)
  where deleted_time is not null and anonymized_time is null; -- those that retention blanks
