-- Which scores of a mail were opened, from which network, for two days. A provisional answer is judged at `judge_time`.
create table link_opening (
  organization_id text collate "C" not null,
  instance_id text collate "C" not null,
  question_id text collate "C" not null,
  value integer not null,
  network text not null check (length(network) <= 64), -- a keyed hash
  opened_time timestamptz not null,
  judge_time timestamptz,
  primary key (organization_id, instance_id, question_id, value),
  foreign key (organization_id, instance_id) references questionnaire_instance on delete cascade
);
create index link_opening_network on link_opening (organization_id, network, opened_time);
create index link_opening_time on link_opening (opened_time); -- retention
create index link_opening_due on link_opening (judge_time) where judge_time is not null;
