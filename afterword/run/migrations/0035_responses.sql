-- A row for each response: its score, first words and words to search for, made by a reader of the event log; who has read it.
set local lock_timeout = '4s';

create table response (
  organization_id text collate "C" not null,
  instance_id text collate "C" not null,
  questionnaire_id text collate "C" not null,
  application_id text collate "C" not null,
  version_id text collate "C" not null,
  responder_id text collate "C" not null,
  channel_id smallint,
  test boolean not null,
  locale text not null,
  submitted_time timestamptz not null,
  external_reference text,
  score_question_id text collate "C",
  score_kind text check (score_kind in ('nps', 'csat', 'ces', 'smileys', 'rating')),
  score integer,
  score_max integer, -- of its scale
  band text check (band in ('detractor', 'passive', 'promoter')), -- null: the score has no segments
  comment text, -- the beginning of the first answer in words
  words tsvector not null, -- folded by core/text/words.py, with a word for the organization
  primary key (organization_id, instance_id),
  check ((score is null) = (score_kind is null) and (score is null) = (score_question_id is null)),
  foreign key (organization_id, instance_id) references questionnaire_instance on delete cascade
);
create index response_list on response (organization_id, test, submitted_time desc, instance_id);
create index response_of_questionnaire on response (organization_id, questionnaire_id, test, submitted_time desc, instance_id);
create index response_commented on response (organization_id, test, submitted_time desc, instance_id) where comment is not null;
create index response_unhappy on response (organization_id, test, submitted_time desc, instance_id) where band = 'detractor';
create index response_words on response using gin (words);

create table response_fill ( -- how far the responses that were there before have got their rows
  is_single boolean primary key default true check (is_single),
  after text collate "C" not null default '',
  done_time timestamptz
);
insert into response_fill default values;

create table response_reader ( -- responses submitted before are read
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  seen_time timestamptz not null,
  primary key (organization_id, user_id),
  foreign key (organization_id, user_id) references organization_user on delete cascade
);

create table response_read ( -- read ones that were submitted after that; a bounded number for each user
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  instance_id text collate "C" not null,
  primary key (organization_id, user_id, instance_id),
  foreign key (organization_id, user_id) references response_reader on delete cascade,
  foreign key (organization_id, instance_id) references questionnaire_instance on delete cascade
);
create index response_read_of on response_read (organization_id, instance_id);
