-- Tables that are written all the time note changes by people alone, not sending, credits and counts.
create trigger audit_made after insert or delete on pipeline
  for each row execute function write_audit_entry('pipeline', 'pipeline_id', '');
create trigger audit after update on pipeline for each row when (old.version <> new.version)
  execute function write_audit_entry('pipeline', 'pipeline_id', '');
create trigger audit_made after insert or delete on alert
  for each row execute function write_audit_entry('alert', 'alert_id', '');
create trigger audit after update on alert for each row when (old.version <> new.version)
  execute function write_audit_entry('alert', 'alert_id', '');
create trigger audit_made after insert or delete on channel_account
  for each row execute function write_audit_entry('provider', 'account_id', 'settings');
create trigger audit after update on channel_account for each row
  when (old.version <> new.version or old.paused_time is distinct from new.paused_time
    or old.is_default <> new.is_default or old.rate_ceiling is distinct from new.rate_ceiling)
  execute function write_audit_entry('provider', 'account_id', 'settings');
create trigger audit_made after insert or delete on plan
  for each row execute function write_audit_entry('plan', 'plan_id', '');
create trigger audit after update on plan for each row
  when (old.state <> new.state or new.extra_credits > old.extra_credits or old.end_time is distinct from new.end_time)
  execute function write_audit_entry('plan', 'plan_id', '');

-- What people do to single items, responses, cases and customers: their events say it, without before and after.
create function write_audit_entry_of_event() returns trigger language plpgsql as $$
declare
  actor text[] := audit_actor();
begin
  insert into audit_entry (organization_id, actor_kind, actor_id, actor_role, action, thing_kind, thing_id)
  values (new.organization_id, 'user', new.actor_id, case when actor[2] = new.actor_id then actor[3] end,
    split_part(new.type, '.', 2), split_part(new.type, '.', 1), new.subject_id);
  return null;
end
$$;
create trigger audit after insert on event for each row
  when (new.actor_kind = 'user' and new.actor_id is not null and new.type in (
    'queue_item.updated', 'queue_item.aborted', 'queue_item.deleted', 'questionnaire_instance.updated',
    'questionnaire_instance.deleted', 'responder.updated', 'responder.unsubscribed', 'suppression.created',
    'suppression.deleted', 'tag.added', 'tag.removed', 'alert_instance.assigned', 'alert_instance.status_changed',
    'alert_instance.resolved', 'alert_instance.reopened', 'alert_instance.commented'))
  execute function write_audit_entry_of_event();
