-- no transaction
create index concurrently alert_instance_outcome on alert_instance (organization_id, greatest(resolved_time, recovery_time))
  where greatest(resolved_time, recovery_time) is not null; -- cases that were closed or answered lately
