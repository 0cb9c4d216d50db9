-- Sources: systems that tell of orders and tickets, the rules by which they ask, and what their calls said.
set local lock_timeout = '4s';

create table source (
  organization_id text collate "C" not null references organization,
  source_id text collate "C" not null,
  application_id text collate "C",
  title text not null check (length(title) between 1 and 100),
  kind text not null check (length(kind) between 1 and 40),
  active boolean not null default true,
  settings jsonb not null default '{}',
  sealed_secret bytea,
  test boolean not null default false,
  last_time timestamptz,
  refused_count bigint not null default 0 check (refused_count >= 0),
  refused_time timestamptz,
  problem text check (length(problem) <= 500),
  version bigint not null default 1,
  created_time timestamptz not null, updated_time timestamptz not null, created_by text, updated_by text,
  primary key (organization_id, source_id),
  foreign key (organization_id, application_id) references application
);
create index source_public on source (source_id);
create trigger audit
  after insert or delete or update of application_id, title, kind, active, settings, sealed_secret on source
  for each row execute function write_audit_entry('source', 'source_id',
    'sealed_secret last_time refused_count refused_time problem');

create table source_rule (
  organization_id text collate "C" not null references organization,
  source_rule_id text collate "C" not null,
  source_id text collate "C" not null,
  what text not null,
  conditions jsonb,
  pipeline_id text collate "C" not null,
  delay_days smallint check (delay_days between 0 and 365),
  delay_hours smallint check (delay_hours between 0 and 23),
  unless text[] not null default '{}' check (cardinality(unless) <= 12),
  age_days_max smallint not null default 14 check (age_days_max between 1 and 30),
  active boolean not null default true,
  version bigint not null default 1,
  created_time timestamptz not null, updated_time timestamptz not null, created_by text, updated_by text,
  primary key (organization_id, source_rule_id),
  foreign key (organization_id, source_id) references source on delete cascade,
  foreign key (organization_id, pipeline_id) references pipeline
);
create index source_rule_of_source on source_rule (organization_id, source_id);
create index source_rule_of_pipeline on source_rule (organization_id, pipeline_id);
create trigger audit after insert or update or delete on source_rule
  for each row execute function write_audit_entry('source_rule', 'source_rule_id', '');

-- Without a key to the source: removing one does not wait for its events, which go by age.
create table source_event (
  organization_id text collate "C" not null references organization,
  source_event_id text collate "C" not null,
  source_id text collate "C" not null,
  event_id text collate "C" not null check (length(event_id) between 1 and 200),
  what text not null,
  name text not null check (length(name) <= 200),
  time timestamptz not null,
  object_id text collate "C" not null check (length(object_id) <= 200),
  subject text collate "C" not null check (length(subject) <= 100),
  person jsonb not null,
  facts jsonb not null,
  decisions jsonb not null default '[]',
  is_test boolean not null,
  received_time timestamptz not null,
  primary key (organization_id, source_event_id),
  unique (organization_id, source_id, event_id)
);
create index source_event_list on source_event (organization_id, source_id, received_time desc, source_event_id);
create index source_event_object on source_event (organization_id, object_id, source_id, time) where object_id <> '';
create index source_event_subject on source_event (organization_id, subject) where subject <> '';
create index source_event_age on source_event (received_time);
