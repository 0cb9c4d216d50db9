-- no transaction
-- Lists that begin with the newest read these backwards. Times that grow go to the end of an index, where a full page
-- stays full; at its beginning each new page took half of the last one's entries. Ids of subjects need no tenant.
create index concurrently event_of_subject on event (subject_id, seq);
drop index concurrently if exists event_subject;
create index concurrently queue_item_newest on queue_item (organization_id, pipeline_id, send_time, item_id desc);
drop index concurrently if exists queue_item_list;
create index concurrently queue_item_states on queue_item (organization_id, status, coalesce(reason, ''), send_time,
  item_id desc) include (reason, pipeline_id, test) where status not in (2, 3) and deleted_time is null;
drop index concurrently if exists queue_item_state;
create index concurrently questionnaire_instance_newest on questionnaire_instance (organization_id, questionnaire_id,
  created_time, instance_id desc);
drop index concurrently if exists questionnaire_instance_list;
create index concurrently questionnaire_instance_all_newest on questionnaire_instance (organization_id, created_time,
  instance_id desc) where deleted_time is null;
drop index concurrently if exists questionnaire_instance_all;
create index concurrently responder_newest on responder (organization_id, created_time, responder_id desc);
drop index concurrently if exists responder_list;
alter table questionnaire_instance set (fillfactor = 50);
