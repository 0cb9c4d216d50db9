-- no transaction
create index concurrently questionnaire_instance_doubtful on questionnaire_instance (organization_id,
  coalesce(judgement, 'marked'), coalesce(submitted_time, held_submitted_time) desc, instance_id)
  where flags is not null and deleted_time is null; -- responses with signs of a machine or of haste, by state
