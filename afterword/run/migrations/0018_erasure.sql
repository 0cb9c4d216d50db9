-- Erasure of people, and where the job stands that tells of the end of instances.
set local lock_timeout = '4s';

create table erasure ( -- the ledger: it outlives the person, so nothing in it is about one but ids that tell nothing
  organization_id text collate "C" not null references organization (organization_id),
  erasure_id text collate "C" not null,
  responder_id text collate "C" not null, -- no key: a restored backup may be older than the responder
  mode text not null check (mode in ('erase', 'anonymize')),
  suppress boolean not null,
  reason text check (length(reason) <= 500),
  state text not null default 'running' check (state in ('running', 'done')),
  counts jsonb not null default '{}',
  requested_time timestamptz not null default now(),
  finished_time timestamptz,
  requested_by text,
  checksum text,
  -- where the work stands: a step and how far it has come, and when to look again
  step text not null default 'imports' check (length(step) between 1 and 40),
  mark text collate "C" not null default '',
  due_time timestamptz not null default now(),
  salt bytea check (length(salt) = 32), -- keys the hashes that stand in place of addresses; thrown away at the end
  version bigint not null default 1,
  primary key (organization_id, erasure_id),
  check ((state = 'done') = (finished_time is not null)),
  check ((state = 'done') = (checksum is not null)),
  check ((state = 'done') = (salt is null))
);
create unique index erasure_running on erasure (organization_id, responder_id) where state = 'running';
create index erasure_due on erasure (due_time) where state = 'running';

create table erasure_subject ( -- what was the person's, by id: what there is to do, then what a replay begins with
  organization_id text collate "C" not null,
  erasure_id text collate "C" not null,
  kind text not null check (kind in ('item', 'instance', 'suppression')),
  subject_id text collate "C" not null,
  primary key (organization_id, erasure_id, kind, subject_id),
  foreign key (organization_id, erasure_id) references erasure (organization_id, erasure_id) on delete cascade
);

-- How far it was told of instances that ended, by their days; those that ended before this stood here are history.
-- Days 0 never end: under them stands up to when instances were looked through for days that are new here.
create table expiry_cursor (
  valid_days integer primary key check (valid_days between 0 and 3650),
  expired_until timestamptz not null default now(),
  expired_id text collate "C" not null default '' -- the last one of that very moment
);
insert into expiry_cursor (valid_days) select valid_days from questionnaire union values (0), (30);
