-- no transaction
create index concurrently alert_instance_load on alert_instance (organization_id, assigned_user_id)
  where resolved_time is null and assigned_user_id is not null; -- the open cases of a user
