-- Service accounts: users that are no people. They own tokens, and have neither an address nor a login.
set local lock_timeout = '4s';

alter table organization_user
  add column service boolean not null default false,
  alter column email drop not null,
  add constraint organization_user_service_check check (
    service = (email is null) and not (service and (login_id is not null or role = 'owner' or display_name is null)));
