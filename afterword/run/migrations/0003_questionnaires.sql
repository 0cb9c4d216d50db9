-- Questionnaires: drafts, visuals, metadata definitions.
set local lock_timeout = '4s';

-- Names that an organization declares beside those of the product, which stand in core/metadata.py.
create table metadata_definition (
  organization_id text collate "C" not null references organization,
  metadata_id text collate "C" not null,
  kind text not null check (kind in ('questionnaire', 'responder')),
  name text not null check (name ~ '^[A-Za-z][A-Za-z0-9_]{0,63}$'),
  title text not null check (length(title) between 1 and 200),
  type text not null check (type in ('text', 'number', 'date', 'boolean')),
  anonymize boolean not null default false,
  level text not null check (level in ('application_type', 'application', 'organization')),
  application_id text collate "C",
  application_type_id text collate "C" references application_type,
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, metadata_id),
  foreign key (organization_id, application_id) references application,
  check ((level = 'application') = (application_id is not null)),
  check ((level = 'application_type') = (application_type_id is not null))
);
create unique index metadata_definition_name on metadata_definition
  (organization_id, (kind || ':' || level || ':' || coalesce(application_id, application_type_id, '') || ':' || name));

-- What is edited until it is published. `definition` may still be wrong, but is an object; `revision` is its ETag.
create table questionnaire_draft (
  organization_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  base_version_id text collate "C", -- the version that was published when it was saved; versions are never deleted
  revision bigint not null default 1,
  definition jsonb not null check (jsonb_typeof(definition) = 'object'),
  updated_time timestamptz not null default now(), updated_by text,
  primary key (organization_id, questionnaire_id),
  foreign key (organization_id, questionnaire_id) references questionnaire
);

create table questionnaire_visual (
  organization_id text collate "C" not null,
  visual_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  title text not null check (length(title) between 1 and 200),
  active boolean not null default false,
  configuration json not null check (json_typeof(configuration) = 'object'), -- json, not jsonb: given back as it came
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, visual_id),
  foreign key (organization_id, questionnaire_id) references questionnaire
);
create unique index questionnaire_visual_active on questionnaire_visual (organization_id, questionnaire_id) where active;
create index questionnaire_visual_list on questionnaire_visual (organization_id, questionnaire_id, created_time desc, visual_id);
