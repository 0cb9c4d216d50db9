create table queue_batch ( -- one act on many waiting items, item by item
  organization_id text collate "C" not null references organization,
  batch_id text collate "C" not null,
  action text not null check (action in ('cancel', 'move', 'send_now')),
  send_time timestamptz, -- to which they are moved
  send_offset_minutes smallint,
  dry_run boolean not null,
  reason text check (length(reason) <= 50), -- of the items that are meant, as the ids and times below
  application_id text collate "C",
  questionnaire_id text collate "C",
  pipeline_id text collate "C",
  from_time timestamptz,
  to_time timestamptz,
  application_ids text[] not null, -- of whoever asked; none: all
  test boolean not null,
  after_time timestamptz, -- key of the last item that was looked at
  after_id text collate "C",
  items_changed integer not null default 0,
  items_held integer not null default 0,
  items_skipped integer not null default 0,
  items_refused integer not null default 0,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
  error text check (length(error) <= 500),
  owner uuid,
  lease_until timestamptz,
  attempts smallint not null default 0,
  turn_time timestamptz not null,
  finished_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null,
  created_by text,
  actor_kind text not null check (actor_kind in ('user', 'token', 'worker')),
  primary key (organization_id, batch_id),
  check ((action = 'cancel') = (send_time is null)),
  check ((send_time is null) = (send_offset_minutes is null)),
  check ((after_time is null) = (after_id is null)),
  check ((owner is null) = (lease_until is null)),
  check (owner is null or state = 'running'),
  check ((state in ('done', 'failed', 'cancelled')) = (finished_time is not null))
);
create index queue_batch_list on queue_batch (organization_id, created_time desc, batch_id);
create index queue_batch_open on queue_batch (turn_time) where state in ('queued', 'running');
create index queue_batch_ended on queue_batch (finished_time) where finished_time is not null;
create trigger audit after insert on queue_batch
  for each row execute function write_audit_entry('queue_batch', 'batch_id', 'owner');
