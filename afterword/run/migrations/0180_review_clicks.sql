-- Who opened the review link of an ending: the first time for each response.
set local lock_timeout = '4s';

create table review_click (
  organization_id text not null collate "C",
  instance_id text not null collate "C",
  questionnaire_id text not null collate "C",
  created_time timestamptz not null,
  primary key (organization_id, instance_id),
  foreign key (organization_id, instance_id) references questionnaire_instance (organization_id, instance_id)
    on delete cascade
);
create index review_click_of_questionnaire on review_click (organization_id, questionnaire_id, created_time);
