-- no transaction
create unique index concurrently questionnaire_instance_external on questionnaire_instance (organization_id, questionnaire_id, external_id)
  where external_id is not null and deleted_time is null; -- one response of a name, however often it is sent
