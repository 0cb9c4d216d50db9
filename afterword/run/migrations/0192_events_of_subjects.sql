-- no transaction
-- Ids of subjects need no tenant to be found.
create index concurrently event_of_subject on event (subject_id, seq);
drop index concurrently if exists event_subject;
alter table questionnaire_instance set (fillfactor = 50);
