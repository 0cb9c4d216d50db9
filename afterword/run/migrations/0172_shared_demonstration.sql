-- The shop with made-up data that every login of the installation may look at, and the sessions that look at it.
set local lock_timeout = '4s';

create table demonstration (
  is_one boolean primary key default true check (is_one),
  asked_time timestamptz not null,
  organization_id text collate "C", user_id text collate "C", -- as whom all look at it, once it is made
  check ((organization_id is null) = (user_id is null))
);
alter table login_session
  add column home_organization_id text collate "C", -- where it comes from, while it looks at the made-up shop
  add column home_user_id text collate "C",
  add check ((home_organization_id is null) = (home_user_id is null));
