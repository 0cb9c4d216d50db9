-- Suppressions, reports of providers.
set local lock_timeout = '4s';

-- suppressions: read and lifted over the API --------------------------------------------------------------------
alter table suppression add column version bigint not null default 1;
create index suppression_list on suppression (organization_id, created_time desc, suppression_id);

-- where a provider's reports come in: one address for each account and form of report ----------------------------
create table inbound_endpoint (
  organization_id text collate "C" not null,
  inbound_id text collate "C" not null,
  account_id text collate "C" not null,
  adapter text not null check (adapter in ('standard', 'sns', 'provider')), -- provider: as the account's own kind says
  settings bytea, -- sealed: the key, or the pinned topic and certificate
  confirm_url text check (length(confirm_url) <= 2000), confirm_time timestamptz, -- asked for by SNS; only shown, never called
  last_time timestamptz, -- when a call was news, to the minute
  created_time timestamptz not null default now(),
  primary key (organization_id, inbound_id),
  unique (organization_id, account_id, adapter),
  check ((confirm_url is null) = (confirm_time is null)),
  check ((adapter = 'provider') = (settings is null)),
  foreign key (organization_id, account_id) references channel_account (organization_id, account_id) on delete cascade
);
create index inbound_endpoint_public on inbound_endpoint (inbound_id); -- its address knows no tenant

-- what was reported: each kind once an item ----------------------------------------------------------------------
create table delivery_report (
  organization_id text collate "C" not null,
  item_id text collate "C" not null,
  kind text not null check (kind in ('accepted', 'delivered', 'failed', 'bounced', 'complained')),
  is_hard boolean not null,
  is_proven boolean not null, -- by a signature, or by the keyed hash that the mail carried
  code text not null check (length(code) <= 40),
  said text not null check (length(said) <= 500), -- addresses masked
  reported_time timestamptz, -- when the provider says that it happened
  created_time timestamptz not null default now(),
  primary key (organization_id, item_id, kind, is_hard, is_proven),
  foreign key (organization_id, item_id) references queue_item (organization_id, item_id) on delete cascade
);

-- the provider's own names of messages, where its reports know no others: written with the settlement, not for mail
create table provider_reference (
  organization_id text collate "C" not null,
  account_id text collate "C" not null,
  provider_reference text not null check (length(provider_reference) between 1 and 255),
  item_id text collate "C" not null,
  created_time timestamptz not null default now(),
  primary key (organization_id, account_id, provider_reference),
  foreign key (organization_id, item_id) references queue_item (organization_id, item_id) on delete cascade
);
create index provider_reference_item on provider_reference (organization_id, item_id);
