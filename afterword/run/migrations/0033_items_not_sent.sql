-- no transaction
create index concurrently queue_item_not_sent on queue_item (organization_id, address_key)
  where status >= 5; -- of one address, for the timeline of a person
