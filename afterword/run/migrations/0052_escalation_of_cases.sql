-- Cases that stay open for too long, or past their due time.
set local lock_timeout = '4s';

alter table alert
  add column escalation_hours integer check (escalation_hours between 1 and 720), -- business hours; null: never
  add column escalation_severity text check (escalation_severity in ('low', 'normal', 'high', 'critical')),
  add column escalation_user_id text collate "C"; -- the owner from then on
alter table alert_instance
  add column overdue_time timestamptz, -- the due time that the log has told to be over
  add column escalated_time timestamptz;
-- Those that were overdue before this release are not told all at once.
update alert_instance set overdue_time = due_time where resolved_time is null and due_time <= now();
