-- An anonymous invitation takes answers once, and does not record when; its responses are instances of their own.
set local lock_timeout = '4s';

alter table questionnaire_instance
  add column anonymity text check (anonymity in ('invitation', 'response')),
  drop constraint questionnaire_instance_check,
  add constraint questionnaire_instance_check check (
    case when anonymity is not distinct from 'invitation' then coalesce(submitted_time, completed_time, viewed_time) is null
    else finalized = (coalesce(completed_time, held_completed_time) is not null) end) not valid;
