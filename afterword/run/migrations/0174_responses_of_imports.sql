-- no transaction
create index concurrently questionnaire_instance_import
  on questionnaire_instance (organization_id, response_import_id, submitted_time desc, instance_id)
  where response_import_id is not null and submitted_time is not null and deleted_time is null;
