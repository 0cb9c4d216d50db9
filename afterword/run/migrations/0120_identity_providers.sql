-- Log-in through the identity provider of an organization.
set local lock_timeout = '4s';

create table identity_provider (
  organization_id text collate "C" not null references organization (organization_id),
  issuer text collate "C" not null check (length(issuer) between 8 and 500),
  client_id text collate "C" not null check (length(client_id) between 1 and 300),
  client_secret bytea check (length(client_secret) <= 2000), -- sealed; null: a public client
  authorization_url text collate "C" check (length(authorization_url) between 8 and 2000), -- null: not found yet
  checked_time timestamptz, -- the provider was asked
  problem text check (length(problem) <= 500), -- of the last check
  scopes text[] not null default '{}' check (cardinality(scopes) <= 10), -- beside openid, email and profile
  groups_claim text not null default 'groups' check (length(groups_claim) between 1 and 100),
  group_roles jsonb not null default '[]',
  default_role text collate "C" check (default_role in ('admin', 'reporting', 'agent')), -- null: of a group, or none
  trusts_addresses boolean not null default false,
  version bigint not null default 1,
  created_time timestamptz not null,
  updated_time timestamptz not null,
  created_by text collate "C",
  updated_by text collate "C",
  primary key (organization_id)
);
-- Checks are not noted.
create trigger audit after insert or delete or update of issuer, client_id, client_secret, scopes, groups_claim, group_roles,
  default_role, trusts_addresses on identity_provider for each row
  execute function write_audit_entry('identity_provider', 'organization_id',
    'client_secret authorization_url checked_time problem');

-- A login that an identity provider vouches for opens one organization alone, and has no password.
alter table login add column is_of_provider boolean not null default false;
drop index login_email;
create unique index login_email on login (lower(email)) where not is_of_provider;

create table login_identity (
  organization_id text collate "C" not null,
  issuer text collate "C" not null check (length(issuer) <= 500),
  subject text collate "C" not null check (length(subject) between 1 and 255),
  user_id text collate "C" not null,
  login_id text collate "C" not null references login (login_id) on delete cascade,
  created_time timestamptz not null,
  primary key (organization_id, issuer, subject),
  unique (organization_id, user_id),
  foreign key (organization_id, user_id) references organization_user (organization_id, user_id) on delete cascade
);
create index login_identity_login on login_identity (login_id);
