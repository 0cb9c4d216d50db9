-- Conditions of an organization on how its people come into the console.
set local lock_timeout = '4s';

create table login_policy (
  organization_id text collate "C" not null references organization (organization_id),
  requires_second_factor boolean not null default false,
  requires_provider boolean not null default false, -- owners may use their passwords, with a second factor
  console_networks text[] not null default '{}' check (cardinality(console_networks) <= 100), -- empty: from anywhere
  version bigint not null default 1,
  updated_time timestamptz not null,
  updated_by text collate "C",
  primary key (organization_id)
);
create trigger audit after insert or delete or update on login_policy
  for each row execute function write_audit_entry('login_policy', 'organization_id', '');
