-- The wish of a customer to be called: until when, about what, and when it was made. The case that it opens has the
-- number and the beginning already.
set local lock_timeout = '4s';

alter table alert drop constraint alert_trigger_check,
  add constraint alert_trigger_check check (trigger in ('submitted', 'completed', 'schedule', 'call_back'));
alter table alert_instance
  add column call_back_until_time timestamptz,
  add column call_back_note text check (length(call_back_note) between 1 and 500),
  add column call_back_requested_time timestamptz;
