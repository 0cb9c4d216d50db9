-- Files of imports of responses that the console takes: their rows in pieces, and how far the check or the import is.
set local lock_timeout = '4s';

create table response_upload (
  organization_id text collate "C" not null,
  response_import_id text collate "C" not null,
  names jsonb not null,
  meanings jsonb not null,
  orders jsonb not null default '{}',
  choices jsonb not null default '{}',
  unknown jsonb not null default '{}',
  state text not null default 'new' check (state in ('new', 'queued', 'done', 'failed')),
  confirmed boolean not null default false,
  rows_total integer not null check (rows_total > 0),
  counts jsonb not null default '{}', -- of rows: created, unchanged, failed
  pieces integer not null check (pieces > 0),
  next_piece integer not null default 0 check (next_piece <= pieces),
  error text,
  turn_time timestamptz not null,
  created_time timestamptz not null,
  primary key (organization_id, response_import_id),
  foreign key (organization_id, response_import_id) references response_import on delete cascade
);
create index response_upload_open on response_upload (turn_time) where state = 'queued';
create index response_upload_old on response_upload (created_time);

create table response_upload_piece (
  organization_id text collate "C" not null,
  response_import_id text collate "C" not null,
  number integer not null,
  content bytea not null,
  faults jsonb not null default '[]', -- of each row that is refused its number, and what is wrong with it
  primary key (organization_id, response_import_id, number),
  foreign key (organization_id, response_import_id) references response_upload on delete cascade
);
alter table response_upload_piece alter column content set storage external;
