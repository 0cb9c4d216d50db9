-- Instances and responders: tags, the times of single values, children, search.
set local lock_timeout = '4s';

create table instance_tag (
  organization_id text collate "C" not null,
  instance_id text collate "C" not null,
  tag text not null check (length(tag) between 1 and 50 and position('/' in tag) = 0),
  created_time timestamptz not null default now(), created_by text,
  primary key (organization_id, instance_id, tag),
  foreign key (organization_id, instance_id) references questionnaire_instance on delete cascade
);

-- When a value was changed after its row was made, by name; whatever is not in it is as old as the row. So a value has
-- a time of its own, and issuing, which changes none, writes nothing for it.
alter table questionnaire_instance add column metadata_times jsonb not null default '{}';
alter table responder add column metadata_times jsonb not null default '{}';

create index questionnaire_instance_previous on questionnaire_instance (organization_id, previous_questionnaire_instance_id, created_time, instance_id)
  where previous_questionnaire_instance_id is not null; -- the children of an instance
create index responder_list on responder (organization_id, created_time desc, responder_id);
create index responder_address_search on responder_address (organization_id, lower(identifier collate "C")); -- exact or by its beginning
