-- The tables of cases, views and taggings came beside the audit log.
set local lock_timeout = '4s';

create trigger audit after insert or update or delete on alert_settings
  for each row execute function write_audit_entry('alert_settings', 'organization_id', '');
create trigger audit after insert or update or delete on response_view
  for each row execute function write_audit_entry('view', 'view_id', 'query');
create trigger audit after insert on tagging
  for each row execute function write_audit_entry('tagging', 'tagging_id', '');
create trigger audit after insert on alert_message for each row when (not new.incoming) execute function
  write_audit_entry('alert_instance', 'alert_instance_id', 'message_id user_id pipeline_id address subject body locale key error', 'written_to');
