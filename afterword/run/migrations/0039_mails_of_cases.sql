-- Mails between agents and the customer of a case.
set local lock_timeout = '4s';

create table alert_message (
  organization_id text collate "C" not null,
  message_id text collate "C" not null,
  alert_instance_id text collate "C" not null,
  incoming boolean not null default false,
  user_id text collate "C", -- who wrote it; null: a token of the organization, or the customer
  pipeline_id text collate "C", -- whose account and sender address send it
  address text not null check (length(address) between 3 and 320), -- the customer's
  subject text not null check (length(subject) <= 300),
  body text not null check (length(body) between 1 and 20000),
  locale text not null,
  key text collate "C" check (length(key) between 1 and 500), -- of the form, or the incoming mail: each is taken once
  state text not null default 'waiting'
    check (state in ('waiting', 'claimed', 'sending', 'sent', 'failed', 'unknown', 'received')),
  due_time timestamptz not null default now(),
  attempts smallint not null default 0,
  epoch bigint not null default 0,
  lease_until timestamptz,
  error text check (length(error) <= 500),
  created_time timestamptz not null default now(), finished_time timestamptz,
  primary key (organization_id, message_id),
  foreign key (organization_id, alert_instance_id) references alert_instance on delete cascade,
  check ((state in ('claimed', 'sending')) = (lease_until is not null)),
  check (incoming = (state = 'received'))
) with (fillfactor = 80);
create unique index alert_message_key on alert_message (organization_id, alert_instance_id, key);
create index alert_message_list on alert_message (organization_id, alert_instance_id, created_time);
create index alert_message_named on alert_message (message_id); -- by an answer, which names no organization
create index alert_message_due on alert_message (due_time) where state = 'waiting';
create index alert_message_lease on alert_message (lease_until) where lease_until is not null;
