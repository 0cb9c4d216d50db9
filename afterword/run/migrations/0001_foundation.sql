-- The house: accounts, questionnaires, responders, instances, the queue and the event log.
-- Every tenant table has organization_id first in its primary, unique and foreign keys (ARCHITECTURE.md).
set local lock_timeout = '4s';

-- accounts ------------------------------------------------------------------------------------------------
create table organization (
  organization_id text collate "C" primary key,
  domain text not null unique check (domain ~ '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$'),
  display_name text not null check (length(display_name) between 1 and 200),
  legal_name text check (length(legal_name) between 1 and 200),
  postal_address text check (length(postal_address) between 1 and 500), -- stands under every mail
  default_locale text not null default 'en',
  time_zone text not null default 'UTC',
  minimum_base integer not null default 5 check (minimum_base between 1 and 1000),
  anonymize_after_days integer check (anonymize_after_days between 1 and 3650),
  delete_after_days integer check (delete_after_days between 30 and 3650),
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text
);

create table application_type (
  application_type_id text collate "C" primary key,
  name text not null unique, title text not null, description text not null
);
insert into application_type (application_type_id, name, title, description) values
  ('0000000000000000custom', 'custom', 'Custom', 'Anything: no metadata definitions of its own.'),
  ('0000000000000000retail', 'retail', 'Retail', 'A shop that sells and delivers goods.'),
  ('00000000000hospitality', 'hospitality', 'Hospitality', 'Hotels, restaurants, travel.'),
  ('00000000000000services', 'services', 'Services', 'Support desks, repairs, professional services.');

create table application (
  organization_id text collate "C" not null references organization,
  application_id text collate "C" not null,
  application_type_id text collate "C" not null references application_type,
  display_name text not null check (length(display_name) between 1 and 200),
  description text check (length(description) <= 2000),
  time_zone text, default_locale text,
  website_urls text[] not null default '{}',
  active boolean not null default true,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, application_id)
);

create table organization_user (
  organization_id text collate "C" not null references organization,
  user_id text collate "C" not null,
  email text not null check (length(email) between 3 and 320),
  first_name text, middle_name text, last_name text, display_name text,
  locale text, time_zone text,
  role text not null check (role in ('owner', 'admin', 'reporting', 'agent')),
  application_ids text[] not null default '{}', -- empty: the whole organization
  active boolean not null default true,
  invited_time timestamptz not null default now(), last_login_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, user_id)
);
create unique index organization_user_email on organization_user (organization_id, lower(email));

create table token (
  organization_id text collate "C" not null references organization,
  token_id text collate "C" not null,
  user_id text collate "C", -- null: kind organization
  kind text not null check (kind in ('user', 'organization')),
  title text not null check (length(title) between 1 and 200),
  scopes text[] not null check (cardinality(scopes) between 1 and 200),
  application_ids text[] not null default '{}',
  selector text collate "C" not null unique check (length(selector) = 16), -- found before the tenant is known
  verifier_digest bytea not null check (length(verifier_digest) = 32),
  test boolean not null default false,
  expires_time timestamptz, revoked_time timestamptz, last_used_time timestamptz,
  created_time timestamptz not null default now(), created_by text,
  primary key (organization_id, token_id),
  foreign key (organization_id, user_id) references organization_user,
  check ((kind = 'user') = (user_id is not null))
);

create table idempotency_key (
  organization_id text collate "C" not null references organization,
  key text collate "C" not null check (length(key) between 1 and 255),
  request_digest bytea not null,
  status smallint, headers jsonb, body bytea, -- null while the first request is under way
  created_time timestamptz not null default now(),
  primary key (organization_id, key)
);
create index idempotency_key_age on idempotency_key (created_time);

-- events --------------------------------------------------------------------------------------------------
create table event (
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  seq bigint generated always as identity,
  xid xid8 not null default pg_current_xact_id(),
  type text not null,
  questionnaire_id text collate "C", subject_id text collate "C", subject_version bigint,
  is_terminal boolean not null default false,
  actor_kind text not null check (actor_kind in ('user', 'token', 'responder', 'worker', 'gateway')),
  actor_id text,
  test boolean not null default false,
  data jsonb not null, -- the row after the change; doors render it as the resource
  created_time timestamptz not null default now(),
  primary key (organization_id, event_id)
);
create index event_read on event (xid, seq);
create index event_subject on event (organization_id, subject_id, seq);
create unique index event_terminal on event (organization_id, subject_id) where is_terminal; -- one end per item, held by the database

-- questionnaires --------------------------------------------------------------------------------------------
create table questionnaire (
  organization_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  owner_application_id text collate "C" not null,
  slug text check (length(slug) between 1 and 100), -- names the file it was imported from, so that importing again makes a version
  display_name text not null check (length(display_name) between 1 and 200),
  title text check (length(title) between 1 and 500),
  description text check (length(description) <= 2000),
  valid_days integer not null default 30 check (valid_days between 0 and 3650),
  editable boolean not null default false,
  template_questionnaire_id text collate "C",
  desktop_collapsed boolean not null default false,
  non_collapsed_questions_count integer not null default 1 check (non_collapsed_questions_count between 0 and 200),
  key_question_id text collate "C",
  credits_accountable boolean not null default true,
  questionnaire_icon_url text,
  default_locale text not null,
  locales text[] not null,
  active boolean not null default true,
  public_link boolean not null default true,
  responses_max integer check (responses_max between 1 and 10000000),
  published_version_id text collate "C",
  archived_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, questionnaire_id),
  foreign key (organization_id, owner_application_id) references application
);
create unique index questionnaire_slug on questionnaire (organization_id, owner_application_id, slug) where slug is not null;
create index questionnaire_list on questionnaire (organization_id, created_time desc, questionnaire_id);
create index questionnaire_public on questionnaire (questionnaire_id); -- the public link knows no tenant

create table questionnaire_version (
  organization_id text collate "C" not null,
  version_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  number integer not null check (number >= 1),
  note text check (length(note) <= 1000),
  definition jsonb not null,
  checksum text not null,
  published_time timestamptz not null default now(), published_by text,
  primary key (organization_id, version_id),
  unique (organization_id, questionnaire_id, number),
  unique (organization_id, questionnaire_id, version_id),
  foreign key (organization_id, questionnaire_id) references questionnaire
);
alter table questionnaire add foreign key (organization_id, questionnaire_id, published_version_id)
  references questionnaire_version (organization_id, questionnaire_id, version_id);

-- responders ------------------------------------------------------------------------------------------------
create table responder (
  organization_id text collate "C" not null references organization,
  responder_id text collate "C" not null,
  locale text, time_zone text,
  metadata jsonb not null default '{}', -- name -> text
  anonymized_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, responder_id)
);

create table responder_address (
  organization_id text collate "C" not null,
  channel_id smallint not null,
  address_key bytea not null, -- keyed hash of the normal form: what dedupe, caps and suppression compare
  responder_id text collate "C" not null,
  identifier text not null, -- the normal form
  unsubscribe_id text collate "C" not null, -- 128 random bits: opens /u/{unsubscribe_id} without a login
  created_time timestamptz not null default now(),
  primary key (organization_id, channel_id, address_key),
  foreign key (organization_id, responder_id) references responder on delete cascade
);
create index responder_address_responder on responder_address (organization_id, responder_id);
create index responder_address_unsubscribe on responder_address (unsubscribe_id);

create table suppression (
  organization_id text collate "C" not null references organization,
  suppression_id text collate "C" not null,
  channel_id smallint not null,
  address_key bytea not null,
  identifier text not null,
  reason text not null check (reason in ('unsubscribed', 'hard_bounce', 'complaint', 'blocked', 'erased')),
  expires_time timestamptz, note text check (length(note) <= 500),
  created_time timestamptz not null default now(), created_by text,
  primary key (organization_id, suppression_id),
  unique (organization_id, channel_id, address_key)
);

-- instances -------------------------------------------------------------------------------------------------
create table questionnaire_instance (
  organization_id text collate "C" not null,
  instance_id text collate "C" not null, -- 128 random bits: it opens the answer page without a login
  questionnaire_id text collate "C" not null,
  version_id text collate "C" not null,
  responder_id text collate "C" not null,
  item_id text collate "C", -- the queue item that issued it
  reference_id text collate "C" check (length(reference_id) between 1 and 100),
  previous_questionnaire_instance_id text collate "C",
  short_code text collate "C" not null check (length(short_code) = 12),
  test boolean not null default false,
  locale text not null,
  valid_days integer not null check (valid_days between 0 and 3650),
  editable boolean not null,
  finalized boolean not null default false,
  question_ids text[] not null, -- dealt to this instance, in order
  metadata jsonb not null default '{}', -- the questionnaire's names -> text; the responder's are with the responder
  sent_time timestamptz, delivered_time timestamptz, viewed_time timestamptz, submitted_time timestamptz, completed_time timestamptz,
  processed_time timestamptz, flow_time timestamptz, deleted_time timestamptz,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, instance_id),
  unique (organization_id, item_id), -- a later claim of the same item finds the same instance
  foreign key (organization_id, questionnaire_id, version_id) references questionnaire_version (organization_id, questionnaire_id, version_id),
  foreign key (organization_id, responder_id) references responder,
  check (finalized = (completed_time is not null))
) with (fillfactor = 75); -- sent, viewed, answered: rows are updated soon, and in their page that spares all indexes
create index questionnaire_instance_public on questionnaire_instance (instance_id);
create index questionnaire_instance_short on questionnaire_instance (short_code);
create index questionnaire_instance_list on questionnaire_instance (organization_id, questionnaire_id, created_time desc, instance_id);
create index questionnaire_instance_all on questionnaire_instance (organization_id, created_time desc, instance_id) where deleted_time is null;
create index questionnaire_instance_answered on questionnaire_instance (organization_id, questionnaire_id)
  where submitted_time is not null and deleted_time is null and not test; -- counts towards responses_max
create index questionnaire_instance_responder on questionnaire_instance (organization_id, responder_id);
create unique index questionnaire_instance_reference on questionnaire_instance (organization_id, questionnaire_id, reference_id)
  where reference_id is not null and deleted_time is null;

create table answer (
  organization_id text collate "C" not null,
  instance_id text collate "C" not null,
  question_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  version_id text collate "C" not null,
  value jsonb not null,
  other_text text check (length(other_text) <= 500),
  provisional boolean not null default false,
  answered_time timestamptz not null default now(),
  primary key (organization_id, instance_id, question_id),
  foreign key (organization_id, instance_id) references questionnaire_instance on delete cascade
);
create index answer_list on answer (organization_id, questionnaire_id, question_id, answered_time desc, instance_id);

-- queue -----------------------------------------------------------------------------------------------------
create table channel_account (
  organization_id text collate "C" not null references organization,
  account_id text collate "C" not null,
  channel_id smallint not null,
  slots_max smallint not null default 10 check (slots_max between 1 and 200),
  rate double precision, rate_ceiling double precision, -- messages a second; null: unlimited
  tokens double precision not null default 0, refilled_time timestamptz not null default now(),
  failures integer not null default 0, open_until timestamptz, -- the breaker
  paused_time timestamptz, paused_reason text check (length(paused_reason) <= 500),
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(),
  primary key (organization_id, account_id),
  unique (organization_id, channel_id)
);

create table pipeline (
  organization_id text collate "C" not null,
  pipeline_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  account_id text collate "C" not null,
  slug text check (length(slug) between 1 and 100),
  channel_id smallint not null,
  title text not null check (length(title) between 1 and 200),
  description text check (length(description) <= 2000),
  template_pipeline_id text collate "C",
  locale text,
  delay_cap_minutes integer not null default 0 check (delay_cap_minutes between 0 and 59),
  delay_cap_hours integer not null default 0 check (delay_cap_hours between 0 and 23),
  delay_cap_days integer not null default 0 check (delay_cap_days between 0 and 365),
  frequency_cap_minutes integer not null default 0 check (frequency_cap_minutes between 0 and 59),
  frequency_cap_hours integer not null default 0 check (frequency_cap_hours between 0 and 23),
  frequency_cap_days integer not null default 0 check (frequency_cap_days between 0 and 365),
  message_subject text check (length(message_subject) between 1 and 200),
  message_body text check (length(message_body) between 1 and 100000),
  messages jsonb not null default '{}',
  start_time timestamptz, end_time timestamptz,
  dispatch_start_time time, dispatch_end_time time,
  time_zone text, zone_of text not null default 'recipient' check (zone_of in ('recipient', 'organization')),
  weekdays smallint[] not null default '{1,2,3,4,5,6,7}' check (cardinality(weekdays) between 1 and 7),
  conditions jsonb,
  sender_name text check (length(sender_name) between 1 and 100), sender_address text, reply_to text,
  max_retry_attempts integer not null default 8 check (max_retry_attempts between 0 and 20),
  not_after_days integer not null default 3 check (not_after_days between 1 and 365),
  priority smallint not null default 5 check (priority between 0 and 9),
  paused boolean not null default false,
  if_outside text not null default 'wait' check (if_outside in ('wait', 'skip')),
  if_capped text not null default 'skip' check (if_capped in ('wait', 'skip')),
  policy_exempt boolean not null default false,
  reminders jsonb not null default '[]',
  target_url text,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, pipeline_id),
  unique (organization_id, pipeline_id, questionnaire_id),
  foreign key (organization_id, questionnaire_id) references questionnaire,
  foreign key (organization_id, account_id) references channel_account,
  check ((dispatch_start_time is null) = (dispatch_end_time is null))
);
create index pipeline_list on pipeline (organization_id, questionnaire_id, created_time desc, pipeline_id);
create unique index pipeline_slug on pipeline (organization_id, questionnaire_id, slug) where slug is not null;

create table queue_item (
  organization_id text collate "C" not null,
  item_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  pipeline_id text collate "C" not null,
  test boolean not null default false,
  responder_channel_identifier text not null check (length(responder_channel_identifier) between 1 and 320), -- as the client sent it
  address_key bytea not null, -- keyed hash of its normal form
  responder_id text collate "C",
  locale text,
  metadata jsonb not null default '{}', -- {"questionnaire": {name: text}, "responder": {name: text}}
  send_time timestamptz not null, send_offset_minutes smallint not null,
  due_time timestamptz not null, not_after timestamptz not null, -- these two decide
  status smallint not null default 1 check (status between 1 and 8),
  epoch bigint not null default 0, owner uuid, lease_until timestamptz, -- owner: one process run, never reused
  attempts smallint not null default 0, attempts_max smallint not null, throttled integer not null default 0,
  resend_after_seconds integer, -- after an unknown outcome; null: never, the item becomes uncertain
  reason text, result text check (length(result) <= 500), trace jsonb,
  dispatched_time timestamptz,
  questionnaire_instance_id text collate "C", previous_item_id text collate "C", previous_questionnaire_instance_id text collate "C",
  source text not null default 'api', sequence_id text collate "C",
  external_reference text check (length(external_reference) between 1 and 100),
  version bigint not null default 1,
  created_by text, updated_by text,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(),
  anonymized_time timestamptz, deleted_time timestamptz,
  primary key (organization_id, item_id),
  check ((status in (2, 3)) = (lease_until is not null)), check ((owner is null) = (lease_until is null)),
  check ((status = 4) = (dispatched_time is not null)), check (deleted_time is null or status >= 5),
  foreign key (organization_id, pipeline_id, questionnaire_id) references pipeline (organization_id, pipeline_id, questionnaire_id),
  foreign key (organization_id, previous_item_id) references queue_item on delete set null (previous_item_id)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index queue_item_due on queue_item (organization_id, pipeline_id, due_time, item_id) where status = 1;
create index queue_item_lease on queue_item (lease_until) where status in (2, 3);
create index queue_item_list on queue_item (organization_id, pipeline_id, send_time desc, item_id);
create unique index queue_item_reference on queue_item (organization_id, pipeline_id, external_reference)
  where external_reference is not null and status <> 7 and deleted_time is null;
create unique index queue_item_sequence on queue_item (organization_id, sequence_id, previous_questionnaire_instance_id) where sequence_id is not null;

create index queue_item_previous on queue_item (organization_id, previous_item_id) where previous_item_id is not null;

create table attempt ( -- inserted by begin, closed once
  organization_id text collate "C" not null,
  item_id text collate "C" not null,
  epoch bigint not null,
  owner uuid not null,
  begin_time timestamptz not null default now(), finish_time timestamptz,
  reply_code smallint, reply text, provider_reference text, -- reply: addresses masked
  outcome text check (outcome in ('accepted', 'accepted_late', 'retry', 'throttled', 'refused', 'unknown')),
  primary key (organization_id, item_id, epoch),
  check ((outcome is null) = (finish_time is null)),
  foreign key (organization_id, item_id) references queue_item on delete cascade
) with (fillfactor = 70);

create table attempt_total ( -- what became of all attempts, for the operator's figures; rows are spread so that workers do not queue
  outcome text not null,
  shard smallint not null,
  total bigint not null,
  primary key (outcome, shard)
) with (fillfactor = 20);

create table contact ( -- who was asked lately: the newest 32 of time, pipeline, item
  organization_id text collate "C" not null,
  address_key bytea not null,
  recent jsonb not null default '[]',
  primary key (organization_id, address_key)
);

create table outbox_message ( -- what the captured outbox holds instead of sending it
  organization_id text collate "C" not null,
  message_id text collate "C" not null,
  item_id text collate "C" not null, channel_id smallint not null,
  recipient text not null, subject text, content bytea not null, -- the whole message as it would have gone out
  created_time timestamptz not null default now(),
  primary key (organization_id, message_id)
);
create index outbox_message_recent on outbox_message (created_time desc);
create index outbox_message_shown on outbox_message (message_id); -- its page knows no tenant
