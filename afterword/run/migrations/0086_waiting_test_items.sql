-- no transaction
create index concurrently queue_item_test on queue_item (organization_id, due_time) where test and status = 1; -- moved by test clocks
