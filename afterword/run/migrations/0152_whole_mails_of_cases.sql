-- A customer's answer as it came, where it has more than their words; and whether another address than theirs sent it.
set local lock_timeout = '4s';

alter table alert_message
  add column whole text check (length(whole) between 1 and 65536),
  add column other_sender boolean not null default false;

create or replace trigger audit after insert on alert_message for each row when (not new.incoming)
  execute function write_audit_entry('alert_instance', 'alert_instance_id',
    'message_id user_id pipeline_id address subject body locale key error whole', 'written_to');
