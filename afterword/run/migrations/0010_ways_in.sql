-- CSV imports and sequences.
set local lock_timeout = '4s';

-- imports: a file is cut into pieces of whole rows when it arrives; a worker takes one piece a transaction -----------
create table queue_import (
  organization_id text collate "C" not null references organization,
  import_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  pipeline_id text collate "C" not null,
  test boolean not null default false,
  file_name text check (length(file_name) between 1 and 255),
  dry_run boolean not null, strict boolean not null,
  on_conflict text not null check (on_conflict in ('error', 'update', 'skip')),
  columns text[] not null check (cardinality(columns) between 1 and 500), -- what the cells of a row are, in their order
  places integer[] not null check (cardinality(places) = cardinality(columns)), -- where they stood in the file, from 1
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
  rows_total integer not null check (rows_total between 1 and 200000),
  rows_created integer not null default 0, rows_updated integer not null default 0,
  rows_skipped integer not null default 0, rows_failed integer not null default 0,
  error text check (length(error) <= 500),
  pieces integer not null check (pieces >= 1),
  next_piece integer not null default 0 check (next_piece between 0 and pieces), -- those before it are settled
  owner uuid, lease_until timestamptz, failures smallint not null default 0, -- in a row that led no further
  turn_time timestamptz not null, -- of the last turn: whoever waits longest is next
  finished_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null, created_by text, actor_kind text not null check (actor_kind in ('user', 'token', 'worker')),
  primary key (organization_id, import_id),
  foreign key (organization_id, pipeline_id, questionnaire_id) references pipeline (organization_id, pipeline_id, questionnaire_id),
  check ((owner is null) = (lease_until is null)), check (owner is null or state = 'running'),
  check ((state in ('done', 'failed', 'cancelled')) = (finished_time is not null)),
  check (state <> 'done' or next_piece = pieces),
  check (rows_created + rows_updated + rows_skipped + rows_failed <= rows_total)
);
create index queue_import_list on queue_import (organization_id, pipeline_id, created_time desc, import_id);
create index queue_import_open on queue_import (turn_time) where state in ('queued', 'running');
create index queue_import_ended on queue_import (finished_time) where finished_time is not null;

create table queue_import_piece ( -- compressed by us, so that the database need not try
  organization_id text collate "C" not null,
  import_id text collate "C" not null,
  number integer not null check (number >= 0),
  first_row integer not null check (first_row >= 1),
  content bytea not null,
  primary key (organization_id, import_id, number),
  foreign key (organization_id, import_id) references queue_import on delete cascade
);
alter table queue_import_piece alter column content set storage external;

create table queue_import_row ( -- what became of each
  organization_id text collate "C" not null,
  import_id text collate "C" not null,
  row integer not null check (row >= 1), -- from 1, after the header
  state text not null check (state in ('created', 'updated', 'skipped', 'failed')),
  item_id text collate "C",
  external_reference text check (length(external_reference) between 1 and 100),
  problem jsonb,
  primary key (organization_id, import_id, row),
  foreign key (organization_id, import_id) references queue_import on delete cascade,
  check ((state = 'failed') = (problem is not null))
);
create index queue_import_row_failed on queue_import_row (organization_id, import_id, row) where state = 'failed';

-- sequences: a response to one questionnaire puts an item into the queue of another ----------------------------------
create table sequence (
  organization_id text collate "C" not null references organization,
  sequence_id text collate "C" not null,
  title text not null check (length(title) between 1 and 200),
  kind text not null default 'manual' check (kind in ('manual', 'recovery', 'review')),
  from_questionnaire_id text collate "C" not null,
  pipeline_id text collate "C" not null,
  trigger text not null default 'submitted' check (trigger in ('submitted', 'completed')),
  conditions jsonb,
  active boolean not null default true,
  since_time timestamptz not null default now(), -- responses before it do not count; by the clock of the event log
  version bigint not null default 1,
  created_time timestamptz not null, updated_time timestamptz not null, created_by text, updated_by text,
  primary key (organization_id, sequence_id),
  foreign key (organization_id, from_questionnaire_id) references questionnaire,
  foreign key (organization_id, pipeline_id) references pipeline
);
create index sequence_from on sequence (organization_id, from_questionnaire_id);
create index sequence_list on sequence (organization_id, created_time desc, sequence_id);
