-- Settings of kiosk mode. The PIN that ends it is kept as a keyed hash, which the audit log leaves out.
set local lock_timeout = '4s';

alter table public_link
  add column kiosk jsonb check (jsonb_typeof(kiosk) = 'object' and length(kiosk::text) <= 1000),
  add column kiosk_pin_hash text collate "C";

drop trigger audit on public_link;
create trigger audit after insert or update or delete on public_link
  for each row execute function write_audit_entry('public_link', 'link_id', 'kiosk_pin_hash');
