-- A digest may go to another address, once somebody there has agreed to it.
set local lock_timeout = '4s';

alter table report_digest
  add column recipient text check (length(recipient) <= 320),
  add column confirmed_time timestamptz,
  add column comments boolean not null default false;
create or replace trigger audit after insert or delete on report_digest
  for each row execute function write_audit_entry('report_digest', 'digest_id', 'recipient');
