-- Hosts of their own that organizations give their public pages.
set local lock_timeout = '4s';

create table custom_domain (
  organization_id text collate "C" not null references organization (organization_id),
  host text collate "C" not null check (host ~ '^[a-z0-9.-]{3,253}$'),
  proven_time timestamptz, -- its record was found
  reached_time timestamptz, -- a call to the host came here
  lost_time timestamptz, -- its record was gone, or pointed to somebody else
  checked_time timestamptz, -- name servers were asked
  problem text collate "C" check (problem in ('in_use', 'not_asked', 'not_reached', 'record_missing')),
  version bigint not null default 1,
  created_time timestamptz not null,
  updated_time timestamptz not null,
  created_by text collate "C",
  updated_by text collate "C",
  primary key (organization_id),
  check (proven_time is not null or (reached_time is null and lost_time is null))
);
-- Many may claim a host; one organization holds it.
create unique index custom_domain_held on custom_domain (host) where proven_time is not null and lost_time is null;
-- Checks that change nothing are not noted.
create trigger audit after insert or delete or update of host, proven_time, reached_time, lost_time on custom_domain
  for each row execute function write_audit_entry('custom_domain', 'organization_id', 'checked_time problem');
