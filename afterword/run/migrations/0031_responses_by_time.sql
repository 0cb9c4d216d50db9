-- no transaction
create index concurrently questionnaire_instance_responses on questionnaire_instance (organization_id, submitted_time desc, instance_id)
  where submitted_time is not null and deleted_time is null and not test; -- responses of all questionnaires, the newest first
