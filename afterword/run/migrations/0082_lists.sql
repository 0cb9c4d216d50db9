-- Lists of addresses while people read, check and send them; what dry runs of imports find.
alter table queue_import add column rows_repeated integer not null default 0,
  add column reasons jsonb not null default '{}', -- of a dry run: rows that a rule would not send, by its reason
  add column first_time timestamptz; -- of a dry run: when the first of its messages would leave
alter table queue_import_row add column line integer, add column reason text;

create table queue_list (
  organization_id text collate "C" not null references organization,
  list_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  pipeline_id text collate "C" not null,
  file_name text check (length(file_name) between 1 and 255),
  content bytea, -- compressed; null once its days are over, or somebody was erased
  encoding text not null, separator text not null, has_header boolean not null,
  mapping jsonb not null default '{}', -- the meaning of each column by its name, empty for one that is left out
  on_conflict text not null default 'error' check (on_conflict in ('error', 'update', 'skip')),
  check_id text collate "C", import_id text collate "C", -- the dry run of what it is now, and the import
  created_time timestamptz not null, created_by text,
  primary key (organization_id, list_id),
  foreign key (organization_id, pipeline_id, questionnaire_id) references pipeline (organization_id, pipeline_id, questionnaire_id),
  foreign key (organization_id, check_id) references queue_import on delete set null (check_id),
  foreign key (organization_id, import_id) references queue_import on delete set null (import_id)
);
alter table queue_list alter column content set storage external;
create index queue_list_newest on queue_list (organization_id, created_time desc, list_id desc);
create index queue_list_old on queue_list (created_time);
create index queue_list_check on queue_list (organization_id, check_id) where check_id is not null;
create index queue_list_import on queue_list (organization_id, import_id) where import_id is not null;

create table queue_list_column ( -- remembered for the next list of the application
  organization_id text collate "C" not null references organization,
  application_id text collate "C" not null,
  name text not null,
  meaning text not null,
  used_time timestamptz not null,
  primary key (organization_id, application_id, name),
  foreign key (organization_id, application_id) references application on delete cascade
);
