-- no transaction
create index concurrently questionnaire_instance_deleted on questionnaire_instance (organization_id, deleted_time)
  where deleted_time is not null; -- those that retention removes
