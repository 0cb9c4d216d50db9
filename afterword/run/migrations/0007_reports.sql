-- Reports: kept counts, custom reports.
set local lock_timeout = '4s';

create table custom_report (
  organization_id text collate "C" not null references organization,
  report_id text collate "C" not null,
  application_id text collate "C", -- null: the whole organization
  title text not null check (length(title) between 1 and 200),
  description text check (length(description) <= 2000),
  spec jsonb not null, -- as `core/reports.py` reads it
  questionnaire_ids text[] not null check (cardinality(questionnaire_ids) between 1 and 50), -- of the spec: whoever may not read one does not see the report
  version bigint not null default 1,
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(), created_by text, updated_by text,
  primary key (organization_id, report_id),
  foreign key (organization_id, application_id) references application
);
create index custom_report_list on custom_report (organization_id, created_time desc, report_id);

-- What reports read: responses by the time of their first answer. The same rows as before, so counting responses towards
-- responses_max is served by it too, and no index more is written.
drop index questionnaire_instance_answered;
create index questionnaire_instance_answered on questionnaire_instance (organization_id, questionnaire_id, submitted_time)
  where submitted_time is not null and deleted_time is null and not test;
create index questionnaire_instance_test on questionnaire_instance (organization_id, questionnaire_id) where test;
-- Block ranges, not trees: tables grow in the order of these times, and from PostgreSQL 16 on setting them spares all trees.
create index questionnaire_instance_went_out on questionnaire_instance using brin ((coalesce(sent_time, created_time)))
  with (autosummarize = on);
create index questionnaire_instance_completed on questionnaire_instance using brin (completed_time) with (autosummarize = on);

-- kept counts -----------------------------------------------------------------------------------------------
-- How often each value was given, by the local day of the first answer and one dimension ('' for none). A span says up to
-- which day they are kept; a day that was touched since is dirty, a day with too many values of the dimension is wide,
-- and both are counted from the answers themselves, like everything from `kept_until` on.
create sequence rollup_generation;
create table rollup_span (
  organization_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  dimension text collate "C" not null check (length(dimension) <= 300),
  generation bigint not null default nextval('rollup_generation'), -- counts of another one are left over
  time_zone text not null, -- whose days they are; the organization's, until that changes
  kept_until date not null default '1970-01-01', -- all days before it are kept
  due_time timestamptz not null default '1970-01-01T00:00:00Z', -- when the day `kept_until` will be over
  primary key (organization_id, questionnaire_id, dimension),
  foreign key (organization_id, questionnaire_id) references questionnaire
) with (fillfactor = 70);
create index rollup_span_due on rollup_span (due_time);

create table rollup_count (
  organization_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  dimension text collate "C" not null,
  generation bigint not null,
  question_id text collate "C" not null,
  day date not null,
  dimension_value text collate "C" not null, -- '': the response has none
  given text[] not null, -- the values, '*' for an answer as such where one answer has several of them
  counts bigint[] not null, -- how often each of them was given
  primary key (organization_id, questionnaire_id, dimension, generation, question_id, day, dimension_value),
  check (cardinality(given) = cardinality(counts))
);

create table rollup_dirty ( -- days of a span whose answers changed after they were counted
  organization_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  dimension text collate "C" not null,
  day date not null,
  marked_time timestamptz not null,
  primary key (organization_id, questionnaire_id, dimension, day),
  foreign key (organization_id, questionnaire_id, dimension) references rollup_span on delete cascade
);
create index rollup_dirty_oldest on rollup_dirty (marked_time);

create table rollup_wide ( -- days that are not kept: too many values, or too many responses
  organization_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  dimension text collate "C" not null,
  generation bigint not null,
  day date not null,
  primary key (organization_id, questionnaire_id, dimension, generation, day)
);

create table rollup_retired ( -- generations whose counts are still to be removed
  organization_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  dimension text collate "C" not null,
  generation bigint not null,
  retired_time timestamptz not null,
  primary key (organization_id, questionnaire_id, dimension, generation)
);
