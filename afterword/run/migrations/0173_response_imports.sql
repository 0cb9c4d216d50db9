-- Responses that were given elsewhere: each knows the import that brought it, and the name that it had there.
set local lock_timeout = '4s';

create table response_import (
  organization_id text collate "C" not null references organization,
  response_import_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  title text check (length(title) between 1 and 200),
  format text not null check (length(format) between 1 and 50),
  file_name text check (length(file_name) <= 255),
  digest text check (length(digest) = 64), -- of the file: an open import of the same one goes on
  state text not null default 'open' check (state in ('open', 'done', 'removing', 'removed')),
  rows_read integer not null default 0,
  rows_created integer not null default 0,
  rows_unchanged integer not null default 0,
  rows_failed integer not null default 0,
  rows_removed integer not null default 0,
  finished_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null, updated_time timestamptz not null, created_by text,
  actor_kind text not null check (actor_kind in ('user', 'token', 'worker')),
  primary key (organization_id, response_import_id),
  foreign key (organization_id, questionnaire_id) references questionnaire (organization_id, questionnaire_id),
  check (rows_created + rows_unchanged + rows_failed = rows_read),
  check ((state = 'open') = (finished_time is null))
);
create index response_import_list on response_import (organization_id, created_time desc, response_import_id);
create index response_import_removing on response_import (updated_time) where state = 'removing';
create trigger audit after insert or delete or update of title, state on response_import
  for each row execute function write_audit_entry('response_import', 'response_import_id',
    'digest rows_read rows_created rows_unchanged rows_failed rows_removed finished_time');

alter table questionnaire_instance
  add column response_import_id text collate "C",
  add column external_id text collate "C";
