-- Webhook endpoints and their deliveries; the event log as clients read it.
set local lock_timeout = '4s';

-- the log -------------------------------------------------------------------------------------------------------
create index event_log on event (organization_id, (xid::text::bigint), seq); -- one organization's log, in the order in which it is read

-- How far an organization's log was pruned: a cursor before this place has missed something.
create table event_horizon (
  organization_id text collate "C" primary key,
  xid xid8 not null,
  seq bigint not null,
  updated_time timestamptz not null default now()
);

-- webhooks ------------------------------------------------------------------------------------------------------
create table webhook (
  organization_id text collate "C" not null references organization,
  webhook_id text collate "C" not null,
  title text not null check (length(title) between 1 and 200),
  target_url text not null check (length(target_url) between 1 and 2000),
  questionnaire_id text collate "C", application_id text collate "C", -- null: all
  event_types text[] not null check (cardinality(event_types) between 1 and 50),
  test boolean not null default false, -- made by a test token: told of test data, and of nothing else
  active boolean not null default true,
  secret bytea, -- sealed, as is the one that it replaced, which signs beside it for a day
  previous_secret bytea, previous_secret_until timestamptz,
  consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
  failing_since timestamptz, -- the first failure after the last success
  resume_time timestamptz, -- the target asked for a pause
  disabled_time timestamptz,
  since_time timestamptz not null default now(), -- what happened before is not told; by the clock of the event log
  version integer not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(),
  created_by text, updated_by text,
  deleted_time timestamptz,
  primary key (organization_id, webhook_id),
  foreign key (organization_id, questionnaire_id) references questionnaire,
  foreign key (organization_id, application_id) references application,
  check ((consecutive_failures = 0) = (failing_since is null)),
  check ((previous_secret is null) = (previous_secret_until is null)),
  check (not active or disabled_time is null),
  check (not active or deleted_time is null),
  check ((secret is null) = (deleted_time is not null)) -- gone with the webhook
);
create index webhook_live on webhook (organization_id) where active;
create index webhook_deleted on webhook (deleted_time) where deleted_time is not null;

-- One event for one webhook. Its state changes under the lock of its webhook's row alone.
create table delivery (
  organization_id text collate "C" not null,
  delivery_id text collate "C" not null,
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  subject_id text collate "C" not null, -- the event's own id where it has no subject
  seq bigint not null, -- the order within the subject
  state text not null default 'scheduled' check (state in ('scheduled', 'claimed', 'delivered', 'dead')),
  due_time timestamptz, -- null while an earlier one of its subject is open
  epoch bigint not null default 0,
  lease_until timestamptz,
  attempts integer not null default 0 check (attempts >= 0),
  response_status smallint, duration_ms integer,
  response_excerpt text check (length(response_excerpt) <= 1000),
  error text check (length(error) <= 1000),
  finished_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null default now(),
  primary key (organization_id, delivery_id),
  unique (organization_id, webhook_id, event_id),
  foreign key (organization_id, webhook_id) references webhook,
  foreign key (organization_id, event_id) references event,
  check ((state = 'claimed') = (lease_until is not null)),
  check ((state in ('delivered', 'dead')) = (finished_time is not null))
);
create index delivery_due on delivery (organization_id, webhook_id, due_time)
  where state = 'scheduled' and due_time is not null;
create index delivery_next on delivery (organization_id, webhook_id, subject_id, seq)
  where state = 'scheduled' and due_time is not null; -- one of each subject: to see two at once, however many wait
create index delivery_claimed on delivery (organization_id, webhook_id) where state = 'claimed';
create index delivery_open on delivery (organization_id, webhook_id, subject_id, seq)
  where state in ('scheduled', 'claimed');
create index delivery_event on delivery (organization_id, event_id);
create index delivery_list on delivery (organization_id, webhook_id, created_time desc, delivery_id desc);
create index delivery_finished on delivery (finished_time) where finished_time is not null;

-- Whether an endpoint with these `event_types` is told of an event of this type, as core/webhooks.py has it.
create function is_wanted(event_types text[], type text) returns boolean immutable language sql
  return '*' = any (event_types) or type = any (event_types) or split_part(type, '.', 1) || '.*' = any (event_types);

create table delivery_total ( -- what became of all attempts and deliveries, also of those that are gone; in shards, as everybody counts
  outcome text not null check (outcome in ('delivered', 'failed', 'dead')),
  shard smallint not null,
  total bigint not null default 0,
  primary key (outcome, shard)
);
