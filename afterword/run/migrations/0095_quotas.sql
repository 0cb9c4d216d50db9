-- Quotas: a complete response remembers the quotas that it counts toward, and one that came too late the quota that was
-- full.
set local lock_timeout = '4s';

alter table questionnaire_instance
  add column quota_ids text[] collate "C",
  add column full_quota_id text collate "C";
