-- The row of an item, instance or person after its change, by columns: a third of the size of the same as a document, without
-- names, and as times instead of texts. An event has one of the four; `events/service.py` makes documents of them.
create type logged_item as (
  send_time timestamptz, dispatched_time timestamptz, created_time timestamptz, updated_time timestamptz,
  anonymized_time timestamptz, status smallint, send_offset_minutes smallint, attempts smallint,
  pipeline_id text, responder_id text, responder_channel_identifier text, questionnaire_instance_id text,
  previous_item_id text, previous_questionnaire_instance_id text, locale text, result text, created_by text,
  updated_by text, external_reference text, source text, reason text
);
create type logged_instance as (
  sent_time timestamptz, delivered_time timestamptz, viewed_time timestamptz, submitted_time timestamptz,
  completed_time timestamptz, processed_time timestamptz, flow_time timestamptz, created_time timestamptz,
  updated_time timestamptz, valid_days integer, editable boolean, finalized boolean, question_ids text[],
  responder_id text, short_code text, locale text, created_by text, updated_by text, full_quota_id text, anonymity text
);
create type logged_responder as (
  created_time timestamptz, updated_time timestamptz, anonymized_time timestamptz, locale text, time_zone text,
  created_by text, updated_by text
);
alter table event alter column data drop not null, add column item logged_item, add column instance logged_instance,
  add column responder logged_responder,
  add constraint event_logged_check check (num_nonnulls(data, item, instance, responder) = 1) not valid;

-- Where events were written before, processes of the release that wrote them may still read: for them the documents
-- are made at once, until a later release removes this.
create function write_event_data() returns trigger language plpgsql as $$
begin
  new.data := coalesce(
    to_jsonb(new.item) || jsonb_build_object(
      'item_id', new.subject_id, 'questionnaire_id', new.questionnaire_id, 'test', new.test),
    to_jsonb(new.instance) || jsonb_build_object(
      'instance_id', new.subject_id, 'questionnaire_id', new.questionnaire_id),
    to_jsonb(new.responder) || jsonb_build_object(
      'organization_id', new.organization_id, 'responder_id', new.subject_id, 'version', new.subject_version,
      'created_time', replace(to_char((new.responder).created_time at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000', ''),
      'updated_time', replace(to_char((new.responder).updated_time at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000', '')));
  new.item := null;
  new.instance := null;
  new.responder := null;
  return new;
end $$;
do $$ begin
  if exists (select from event) then
    create trigger data before insert on event for each row when (new.data is null) execute function write_event_data();
  end if;
end $$;
