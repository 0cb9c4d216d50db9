-- Accounts: billing, plans and credits.
set local lock_timeout = '4s';

create table organization_billing ( -- none yet: the organization's own name, and euros
  organization_id text collate "C" primary key references organization,
  name text not null check (length(name) between 1 and 200),
  address_lines text[] not null default '{}' check (cardinality(address_lines) <= 4),
  city text check (length(city) between 1 and 100), postal_code text check (length(postal_code) between 1 and 100),
  country text check (country ~ '^[A-Z]{2}$'),
  tax_number text check (length(tax_number) between 1 and 50),
  email text check (length(email) between 3 and 320),
  purchase_reference text check (length(purchase_reference) between 1 and 100),
  currency text not null default 'EUR' check (currency ~ '^[A-Z]{3}$'),
  version bigint not null default 1,
  updated_time timestamptz not null default now(), updated_by text
);

-- Who has left stays as a row: what they did names them. Their address is free again.
alter table organization_user add column removed_time timestamptz;
drop index organization_user_email;
create unique index organization_user_email on organization_user (organization_id, lower(email)) where removed_time is null;

alter table token
  add column maker_role text not null default 'owner' check (maker_role in ('owner', 'admin')), -- as whom an organization's token acts on people
  add column retires_time timestamptz; -- its end because it was rotated, beside the one it was made with

create table access_token ( -- an hour's token that an organization's token was exchanged for; it ends with it
  organization_id text collate "C" not null,
  access_token_id text collate "C" not null,
  token_id text collate "C" not null,
  selector text collate "C" not null unique check (length(selector) = 16), -- found before the tenant is known
  verifier_digest bytea not null check (length(verifier_digest) = 32),
  scopes text[] not null check (cardinality(scopes) between 1 and 200),
  expires_time timestamptz not null,
  created_time timestamptz not null default now(),
  primary key (organization_id, access_token_id),
  foreign key (organization_id, token_id) references token on delete cascade
);
create index access_token_parent on access_token (organization_id, token_id, expires_time);
create index access_token_end on access_token (expires_time);

create table plan (
  organization_id text collate "C" not null references organization,
  plan_id text collate "C" not null,
  application_id text collate "C", -- null: pays for all applications
  title text not null check (length(title) between 1 and 200),
  kind text not null check (kind in ('once', 'monthly', 'unlimited')),
  credits integer check (credits between 1 and 1000000000),
  remaining_credits integer, -- below zero: instances that were out already were answered
  extra_credits integer not null default 0 check (extra_credits between 0 and 1000000000), -- used first
  features text[] not null default '{}' check (cardinality(features) <= 50),
  state text not null default 'active' check (state in ('active', 'expired', 'cancelled')),
  start_time timestamptz not null, renew_time timestamptz, end_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(),
  primary key (organization_id, plan_id),
  foreign key (organization_id, application_id) references application on delete cascade,
  check ((kind = 'unlimited') = (credits is null)), check ((credits is null) = (remaining_credits is null)),
  check ((renew_time is not null) = (kind = 'monthly' and state = 'active')),
  check (end_time is null or end_time > start_time)
) with (fillfactor = 50); -- every first answer updates it, and in its page that spares the indexes
create index plan_renewal on plan (renew_time) where renew_time is not null;
create index plan_end on plan (end_time) where end_time is not null and state = 'active';

-- Whether what is sent for an application will be paid: by an active plan of its own or of the whole organization that
-- is unlimited or has credits left. Without any plan that has begun, whatever became of it, all is free.
create view application_credit as
  select a.organization_id, a.application_id,
    coalesce((
      select bool_or(p.state = 'active' and (p.end_time is null or p.end_time > now())
                     and (p.kind = 'unlimited' or p.remaining_credits + p.extra_credits > 0))
      from plan p
      where p.organization_id = a.organization_id and p.start_time <= now()
        and (p.application_id is null or p.application_id = a.application_id)), true) as has_credits
  from application a;
