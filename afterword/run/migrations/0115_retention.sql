-- How long organizations keep personal data, by class; what is kept for a court; and a row for each run that removes.
set local lock_timeout = '4s';

alter table organization
  add column texts_days integer check (texts_days between 1 and 3650), -- null: as anonymize_after_days
  add column people_days integer check (people_days between 1 and 3650),
  add column items_days integer check (items_days between 1 and 3650),
  add column uploads_days integer check (uploads_days between 1 and 3650),
  add column answers_days integer check (answers_days between 30 and 3650), -- null: as delete_after_days
  add column events_days integer check (events_days between 30 and 90), -- null: as the installation
  add column audit_days integer check (audit_days between 30 and 730),
  add column exports_days integer check (exports_days between 1 and 7);

alter table questionnaire_instance
  add column texts_removed_time timestamptz,
  add column anonymized_time timestamptz;

create table legal_hold (
  organization_id text collate "C" not null references organization (organization_id),
  hold_id text collate "C" not null,
  responder_id text collate "C", -- null: all of the organization
  reason text not null check (length(reason) between 1 and 500),
  created_time timestamptz not null,
  created_by text collate "C",
  version bigint not null default 1,
  primary key (organization_id, hold_id),
  foreign key (organization_id, responder_id) references responder (organization_id, responder_id)
);
create index legal_hold_responder on legal_hold (organization_id, responder_id);
create trigger audit after insert or update or delete on legal_hold
  for each row execute function write_audit_entry('legal_hold', 'hold_id', 'reason');

create table retention_run (
  organization_id text collate "C" not null references organization (organization_id),
  run_id text collate "C" not null,
  kind text not null
    check (kind in ('texts', 'people', 'items', 'uploads', 'answers', 'events', 'audit', 'exports')),
  days integer not null check (days between 1 and 3650),
  before_time timestamptz not null, -- what is older goes
  state text not null default 'running' check (state in ('running', 'done')),
  counts jsonb not null default '{}',
  mark text collate "C" not null default '', -- the last row of the walk
  due_time timestamptz not null,
  started_time timestamptz not null,
  finished_time timestamptz,
  primary key (organization_id, run_id),
  check ((state = 'done') = (finished_time is not null))
);
create unique index retention_run_running on retention_run (organization_id, kind) where state = 'running';
create index retention_run_due on retention_run (due_time) where state = 'running';
create index retention_run_last on retention_run (organization_id, kind, started_time desc);
create index retention_run_list on retention_run (organization_id, started_time desc, run_id);

-- Removes entries of one organization, which keeps its own for a shorter time. The trigger knows the function's name.
create function prune_audit_entries(until timestamptz, rows_max integer, of_organization text) returns bigint
  language plpgsql as $$
declare
  removed bigint;
begin
  delete from audit_entry e using (
    select organization_id, entry_id from audit_entry
    where organization_id = of_organization and created_time < until order by created_time limit rows_max) old
  where e.organization_id = old.organization_id and e.entry_id = old.entry_id;
  get diagnostics removed = row_count;
  return removed;
end
$$;
