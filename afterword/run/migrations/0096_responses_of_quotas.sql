-- no transaction
create index concurrently questionnaire_instance_quotas on questionnaire_instance using gin (quota_ids)
  where quota_ids is not null and deleted_time is null and not test; -- responses that count toward a quota
