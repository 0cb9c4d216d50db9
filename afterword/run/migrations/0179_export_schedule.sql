-- Exports on a timetable: what goes where and when, its runs, and the days that were written.
set local lock_timeout = '4s';

create table export_schedule (
  organization_id text collate "C" not null references organization,
  schedule_id text collate "C" not null,
  title text not null check (length(title) between 1 and 100),
  questionnaire_id text collate "C" not null,
  active boolean not null,
  every text collate "C" not null check (every in ('hourly', 'daily', 'weekly')),
  day integer not null check (day between 1 and 7), -- of the week
  hour integer not null check (hour between 0 and 23), -- local
  format text collate "C" not null check (format in ('csv', 'parquet', 'sav')),
  locale text collate "C" check (length(locale) <= 35),
  filter jsonb,
  include_incomplete boolean not null, include_metadata boolean not null, include_recipient boolean not null,
  destination text collate "C" not null check (destination in ('folder', 's3', 'sftp')),
  path text collate "C" not null check (length(path) between 1 and 200),
  endpoint text collate "C" check (length(endpoint) <= 2048),
  bucket text collate "C" check (length(bucket) between 1 and 320),
  region text collate "C" check (length(region) between 1 and 320),
  access_key text collate "C" check (length(access_key) between 1 and 320),
  host text collate "C" check (length(host) between 1 and 320),
  port integer check (port between 1 and 65535),
  username text collate "C" check (length(username) between 1 and 320),
  host_key text collate "C" check (length(host_key) between 1 and 2000), -- null: nobody confirmed it
  sealed_secret bytea check (length(sealed_secret) <= 41000),
  scopes text[] not null,
  next_time timestamptz, -- null: it does not run
  last_time timestamptz, -- of a run that went well
  problem text collate "C" check (length(problem) between 1 and 40),
  problem_time timestamptz, -- since when no run went well
  reply text check (length(reply) <= 300),
  failures integer not null default 0, -- in a row
  version bigint not null default 1,
  created_time timestamptz not null, updated_time timestamptz not null, created_by text, updated_by text,
  primary key (organization_id, schedule_id),
  foreign key (organization_id, questionnaire_id) references questionnaire (organization_id, questionnaire_id),
  check ((problem is null) = (problem_time is null))
);
create unique index export_schedule_place
  on export_schedule (organization_id, destination, coalesce(endpoint, host, ''), coalesce(bucket, ''), path);
create index export_schedule_due on export_schedule (next_time);
create index export_schedule_questionnaire on export_schedule (organization_id, questionnaire_id);
-- Runs are not noted.
create trigger audit after insert or delete or update of title, active, every, day, hour, format, locale, filter,
    include_incomplete, include_metadata, include_recipient, path, endpoint, bucket, region, access_key, host, port,
    username, host_key, sealed_secret, scopes
  on export_schedule for each row
  execute function write_audit_entry('export_schedule', 'schedule_id',
    'sealed_secret next_time last_time problem problem_time reply failures');

create table export_run (
  organization_id text collate "C" not null,
  run_id text collate "C" not null,
  schedule_id text collate "C" not null,
  state text collate "C" not null default 'queued'
    check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
  day_count integer, -- null: not known yet
  days_written integer not null default 0, file_count integer not null default 0,
  row_count bigint not null default 0, bytes bigint not null default 0,
  error text collate "C" check (length(error) between 1 and 40),
  reply text check (length(reply) <= 300),
  owner uuid, lease_until timestamptz,
  attempts integer not null default 0,
  started_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null, turn_time timestamptz not null, finished_time timestamptz, created_by text,
  primary key (organization_id, run_id),
  foreign key (organization_id, schedule_id) references export_schedule on delete cascade,
  check ((finished_time is null) = (state in ('queued', 'running')))
);
create unique index export_run_open on export_run (organization_id, schedule_id) where state in ('queued', 'running');
create index export_run_turn on export_run (turn_time) where state in ('queued', 'running');
create index export_run_list on export_run (organization_id, schedule_id, created_time desc, run_id);
create index export_run_finished on export_run (finished_time) where finished_time is not null;

create table export_day (
  organization_id text collate "C" not null,
  schedule_id text collate "C" not null,
  day date not null, -- of the creation of its responses, in UTC; of a whole file the first one
  fingerprint text collate "C" not null check (length(fingerprint) between 1 and 100),
  parts integer not null,
  primary key (organization_id, schedule_id, day),
  foreign key (organization_id, schedule_id) references export_schedule on delete cascade
);
