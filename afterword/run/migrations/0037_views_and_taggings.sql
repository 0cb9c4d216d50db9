-- Saved views of responses, and tags for many responses at once.
set local lock_timeout = '4s';

create table response_view ( -- a filter with a name
  organization_id text collate "C" not null,
  view_id text collate "C" not null,
  user_id text collate "C" not null,
  title text not null check (length(title) between 1 and 100),
  query text not null check (length(query) <= 4000), -- of the address
  shared boolean not null,
  created_time timestamptz not null default now(),
  primary key (organization_id, view_id),
  foreign key (organization_id, user_id) references organization_user on delete cascade
);
create index response_view_user on response_view (organization_id, user_id);

create table tagging ( -- a tag that is added to many responses, or removed from them
  organization_id text collate "C" not null,
  tagging_id text collate "C" not null,
  tag text not null check (length(tag) between 1 and 50),
  action text not null check (action in ('add', 'remove')),
  state text not null default 'running' check (state in ('running', 'done', 'undoing', 'undone')),
  found integer not null, -- responses to go through
  passed integer not null default 0,
  changed integer not null default 0,
  undone integer not null default 0,
  created_by text collate "C" not null,
  actor_kind text not null check (actor_kind in ('user', 'token')),
  version bigint not null default 1,
  created_time timestamptz not null default now(),
  updated_time timestamptz not null default now(),
  primary key (organization_id, tagging_id)
);
create index tagging_open on tagging (updated_time) where state in ('running', 'undoing');
create index tagging_age on tagging (created_time);

create table tagging_response ( -- `changed`: by this tagging, so undoing changes it back; null: not gone through yet
  organization_id text collate "C" not null,
  tagging_id text collate "C" not null,
  instance_id text collate "C" not null,
  changed boolean,
  primary key (organization_id, tagging_id, instance_id),
  foreign key (organization_id, tagging_id) references tagging on delete cascade,
  foreign key (organization_id, instance_id) references questionnaire_instance on delete cascade
);
create index tagging_response_of on tagging_response (organization_id, instance_id);
