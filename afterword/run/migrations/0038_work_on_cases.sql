-- Work on cases: business hours, a clock that stops while the customer is waited for, call-backs, causes, the history.
set local lock_timeout = '4s';

create table alert_settings (
  organization_id text collate "C" primary key references organization,
  weekdays smallint[] not null default '{1,2,3,4,5,6,7}'
    check (cardinality(weekdays) between 1 and 7 and weekdays <@ '{1,2,3,4,5,6,7}'),
  start_time time, end_time time, -- both null: the whole of these days
  closed_on_holidays boolean not null default false, -- those of the contact policy
  causes text[] not null default '{}' check (cardinality(causes) <= 100),
  remedies text[] not null default '{}' check (cardinality(remedies) <= 100),
  saved_texts jsonb not null default '[]' check (jsonb_typeof(saved_texts) = 'array'),
  version bigint not null default 1,
  updated_time timestamptz not null default now(), updated_by text,
  check ((start_time is null) = (end_time is null))
);

alter table alert_instance
  add column waiting_since timestamptz, -- for the customer; meanwhile `due_time` is null
  add column due_left_seconds bigint, -- of that clock when it was stopped; null: it had no due time
  add column call_back_time timestamptz,
  add column call_back_number text check (length(call_back_number) between 1 and 50),
  add column cause text check (length(cause) between 1 and 100),
  add column remedy text check (length(remedy) between 1 and 100);

create table alert_history ( -- of a case; its comments have a table of their own
  organization_id text collate "C" not null,
  alert_instance_id text collate "C" not null,
  history_id text collate "C" not null,
  kind text not null check (length(kind) between 1 and 40),
  user_id text collate "C", -- null: a token of the organization, or the worker
  changes jsonb not null default '{}', -- member to {from, to}; nothing of the person
  created_time timestamptz not null default now(),
  primary key (organization_id, alert_instance_id, history_id),
  foreign key (organization_id, alert_instance_id) references alert_instance on delete cascade
);
