-- Failed items are sent again many at once, and an act can mean the items of one import.
set local lock_timeout = '4s';

alter table queue_batch
  add column import_id text collate "C",
  drop constraint queue_batch_action_check,
  add constraint queue_batch_action_check check (action in ('cancel', 'move', 'send_now', 'repeat'));
