-- Exports: jobs and the pieces of their files.
set local lock_timeout = '4s';

create table export (
  organization_id text collate "C" not null references organization,
  export_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  test boolean not null default false, -- of test responses alone
  format text not null check (format in ('csv', 'xlsx', 'jsonl')),
  from_time timestamptz, to_time timestamptz,
  date_basis text not null check (date_basis in ('submitted', 'completed', 'sent')),
  filter jsonb,
  locale text,
  values_as text not null check (values_as in ('labels', 'codes', 'both')),
  include_metadata boolean not null, include_incomplete boolean not null,
  scopes text[] not null, -- of values that it holds: who downloads it needs them too
  since_cursor text, since_time timestamptz, -- only what changed since
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'expired', 'failed', 'cancelled')),
  progress smallint not null default 0 check (progress between 0 and 100),
  row_count bigint, bytes bigint, checksum text, file_name text, error text check (length(error) <= 500),
  pieces integer not null default 0,
  scan_time timestamptz, scan_id text collate "C", -- the response that the last piece ended with
  owner uuid, lease_until timestamptz, attempts smallint not null default 0,
  started_time timestamptz, finished_time timestamptz, expires_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null default now(), created_by text,
  primary key (organization_id, export_id),
  foreign key (organization_id, questionnaire_id) references questionnaire,
  check ((state = 'running') = (owner is not null)), check ((owner is null) = (lease_until is null)),
  check (from_time is null or to_time is null or from_time < to_time)
);
create index export_list on export (organization_id, questionnaire_id, created_time desc, export_id);
create index export_open on export (created_time) where state in ('queued', 'running');
create index export_expiry on export (expires_time) where expires_time is not null;

create table export_piece ( -- compressed by us, so that the database need not try
  organization_id text collate "C" not null,
  export_id text collate "C" not null,
  number integer not null check (number >= 0),
  bytes integer not null, -- before compression
  content bytea not null,
  primary key (organization_id, export_id, number),
  foreign key (organization_id, export_id) references export on delete cascade
);
alter table export_piece alter column content set storage external;
