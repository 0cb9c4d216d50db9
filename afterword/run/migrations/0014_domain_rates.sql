-- Rates by recipient domain, and messages that are sent as a test.
set local lock_timeout = '4s';

create table domain_rate ( -- a bucket of an account's own for a domain that throttles it; gone when it has recovered
  organization_id text collate "C" not null,
  account_id text collate "C" not null,
  domain text collate "C" not null check (length(domain) between 1 and 255),
  rate double precision not null check (rate > 0), rate_ceiling double precision not null,
  tokens double precision not null default 0, refilled_time timestamptz not null default now(),
  throttled_time timestamptz not null default now(), -- the last time
  primary key (organization_id, account_id, domain),
  foreign key (organization_id, account_id) references channel_account on delete cascade,
  check (rate <= rate_ceiling)
) with (fillfactor = 80);
create index domain_rate_recovered on domain_rate (throttled_time);

-- Tells the claim whether it must look there at all.
alter table channel_account add column has_domain_rates boolean not null default false;
create index channel_account_domains on channel_account (organization_id, account_id) where has_domain_rates;

create table trial ( -- a message sent as a test: asked for by the web, sent by a worker, no item of the queue
  organization_id text collate "C" not null,
  trial_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  pipeline_id text collate "C" not null,
  channel_id smallint not null,
  recipient text not null check (length(recipient) between 1 and 320),
  locale text not null,
  metadata jsonb not null,
  external_reference text,
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'done')),
  subject text, body text,
  outcome text check (outcome in ('accepted', 'retry', 'throttled', 'refused', 'unknown')),
  reply text check (length(reply) <= 500),
  created_time timestamptz not null default now(), finished_time timestamptz,
  created_by text collate "C",
  primary key (organization_id, trial_id),
  foreign key (organization_id, pipeline_id, questionnaire_id)
    references pipeline (organization_id, pipeline_id, questionnaire_id) on delete cascade,
  check ((state = 'done') = (outcome is not null)), check ((state = 'done') = (finished_time is not null))
) with (fillfactor = 80);
create index trial_waiting on trial (created_time) where state = 'waiting';
create index trial_created on trial (created_time); -- for who removes them
create index trial_recent on trial (organization_id, created_time); -- how many there were lately
create index trial_pipeline on trial (organization_id, pipeline_id, questionnaire_id);
