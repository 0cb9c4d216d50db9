create or replace trigger audit after insert on event for each row
  when (new.actor_kind = 'user' and new.actor_id is not null and new.type in (
    'queue_item.updated', 'queue_item.aborted', 'queue_item.deleted', 'questionnaire_instance.updated',
    'questionnaire_instance.deleted', 'questionnaire_instance.accepted', 'questionnaire_instance.rejected',
    'responder.updated', 'responder.unsubscribed', 'suppression.created', 'suppression.deleted', 'tag.added',
    'tag.removed', 'alert_instance.assigned', 'alert_instance.status_changed', 'alert_instance.resolved',
    'alert_instance.reopened', 'alert_instance.commented'))
  execute function write_audit_entry_of_event();
