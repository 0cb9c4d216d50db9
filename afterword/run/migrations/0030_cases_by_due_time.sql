-- no transaction
create index concurrently alert_instance_due on alert_instance
  (organization_id, coalesce(due_time, timestamptz '9999-01-01 00:00:00+00'), alert_instance_id) where resolved_time is null; -- agents work through them in this order
