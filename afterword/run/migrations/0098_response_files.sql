-- Files that answer questions. They go with the answer that lists them.
set local lock_timeout = '4s';

create table response_file (
  organization_id text collate "C" not null,
  instance_id text collate "C" not null,
  file_id text collate "C" not null,
  question_id text collate "C" not null,
  name text not null check (length(name) between 1 and 100),
  media_type text not null,
  bytes integer not null check (bytes between 1 and 10485760),
  content_hash bytea not null check (octet_length(content_hash) = 32), -- of the file as it came
  content bytea, -- null where a folder keeps it
  created_time timestamptz not null,
  primary key (organization_id, instance_id, file_id),
  foreign key (organization_id, instance_id, question_id)
    references answer (organization_id, instance_id, question_id) on delete cascade
);
alter table response_file alter column content set storage external; -- most kinds are compressed
