-- Links at which anybody may answer, each with its own key. An instance remembers the link at which it began. A response
-- that may be a machine's is held back, with its reasons in `flags`, until a person accepts or rejects it.
set local lock_timeout = '4s';

create table public_link (
  organization_id text collate "C" not null,
  link_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  key text collate "C" not null check (length(key) = 12),
  title text not null check (length(title) between 1 and 200),
  metadata jsonb not null check (length(metadata::text) <= 20000),
  parameters text[] not null check (cardinality(parameters) <= 50),
  takes_reference boolean not null,
  one_response_per text check (one_response_per in ('browser', 'address')),
  opens_time timestamptz,
  closes_time timestamptz,
  responses_max integer check (responses_max between 1 and 1000000),
  locale text check (length(locale) <= 35),
  active boolean not null,
  version bigint not null default 1,
  created_time timestamptz not null,
  updated_time timestamptz not null,
  created_by text collate "C",
  updated_by text collate "C",
  primary key (organization_id, link_id),
  foreign key (organization_id, questionnaire_id) references questionnaire (organization_id, questionnaire_id),
  check (closes_time > opens_time),
  check (not (takes_reference and one_response_per is not null))
);
create unique index public_link_address on public_link (key); -- browsers know no organization
create index public_link_list on public_link (organization_id, questionnaire_id, created_time desc, link_id);

create trigger audit after insert or update or delete on public_link
  for each row execute function write_audit_entry('public_link', 'link_id', '');

alter table questionnaire_instance
  add column link_id text collate "C",
  add column flags text[],
  add column judgement text check (judgement in ('held', 'accepted', 'rejected'));

-- A visitor confirms an address by a mail, and is no user.
alter table notice_mail
  alter column user_id drop not null,
  add column locale text check (length(locale) <= 35),
  add column address_key bytea; -- of the visitor's address, which goes when the mail has left
alter table notice_mail drop constraint notice_mail_purpose_check, add constraint notice_mail_purpose_check
  check (purpose in ('invitation', 'reset', 'address', 'warning', 'digest', 'answer')) not valid;
