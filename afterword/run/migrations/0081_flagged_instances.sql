-- no transaction
create index concurrently questionnaire_instance_flagged on questionnaire_instance (organization_id, submitted_time desc, instance_id)
  where flags is not null and submitted_time is not null and deleted_time is null; -- responses that may be a machine's
