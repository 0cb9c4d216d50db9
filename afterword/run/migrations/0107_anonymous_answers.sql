-- Answers to anonymous invitations, sealed together, until there are enough of them to become responses.
set local lock_timeout = '4s';

create table anonymous_pool (
  organization_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  version_id text collate "C" not null,
  responses integer not null check (responses >= 0),
  sealed bytea not null,
  primary key (organization_id, questionnaire_id, version_id),
  foreign key (organization_id, questionnaire_id, version_id)
    references questionnaire_version (organization_id, questionnaire_id, version_id)
);
