-- The times of a response that is held back, or was rejected, stand beside those that figures, lists and rules go by, which
-- it gets when a person accepts it.
alter table questionnaire_instance
  add column held_submitted_time timestamptz,
  add column held_completed_time timestamptz,
  drop constraint questionnaire_instance_check,
  add constraint questionnaire_instance_check
    check (finalized = (coalesce(completed_time, held_completed_time) is not null)) not valid;
drop index questionnaire_instance_flagged; -- in place of it the next file makes one that has these responses too
