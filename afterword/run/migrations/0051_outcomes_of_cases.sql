-- The figures of the work on cases: the time that closing took, and what the customer said when asked again.
set local lock_timeout = '4s';

alter table alert_instance
  add column waited_seconds bigint not null default 0, -- business time in which the customer was waited for
  add column work_seconds bigint, -- business time from opening to closing without it; null: open, or closed before
  add column recovery_instance_id text collate "C", -- the response to the recovery item
  add column recovery_time timestamptz, -- of that response
  add column recovered boolean; -- null: not answered, or nothing to compare with
alter table alert_settings add column recovery_questionnaire_id text collate "C"; -- null: the one of the case
