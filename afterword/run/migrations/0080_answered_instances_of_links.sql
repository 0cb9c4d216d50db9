-- no transaction
create index concurrently questionnaire_instance_link on questionnaire_instance (organization_id, link_id, submitted_time desc, instance_id)
  where link_id is not null and submitted_time is not null and deleted_time is null; -- responses of a public link
