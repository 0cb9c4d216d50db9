-- Accounts that an organization adds itself, pauses of the operator, and test messages through an account.
set local lock_timeout = '4s';

alter table channel_account
  add column is_own boolean not null default false, -- the organization made it, so private networks are closed to it
  add column is_paused_by_operator boolean not null default false; -- where it is paused

alter table trial
  add column account_id text collate "C", -- of a test without a pipeline
  alter column questionnaire_id drop not null,
  alter column pipeline_id drop not null,
  add constraint trial_of check (num_nonnulls(account_id, pipeline_id) > 0),
  add foreign key (organization_id, account_id) references channel_account (organization_id, account_id)
    on delete cascade;
create index trial_account on trial (organization_id, account_id) where account_id is not null;
