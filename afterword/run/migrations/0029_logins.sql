-- People who log in to the console: one login with its proofs, for users of one or several organizations.
set local lock_timeout = '4s';

create table login (
  login_id text collate "C" primary key,
  email text not null check (length(email) between 3 and 320),
  password_hash text not null check (length(password_hash) <= 300),
  password_time timestamptz not null default now(),
  totp_secret bytea check (length(totp_secret) <= 200), -- sealed
  totp_time timestamptz, -- since when a code is asked for; null: not proven yet
  totp_step bigint not null default 0, -- of the last code, which is accepted once
  created_time timestamptz not null default now(), updated_time timestamptz not null default now(),
  check (totp_time is null or totp_secret is not null)
);
create unique index login_email on login (lower(email));

create table login_recovery_code ( -- instead of a code of the app, each once
  login_id text collate "C" not null references login on delete cascade,
  digest bytea not null check (length(digest) = 32),
  primary key (login_id, digest)
);

create table login_passkey (
  credential_id bytea primary key check (length(credential_id) between 1 and 1023),
  login_id text collate "C" not null references login on delete cascade,
  public_key bytea not null check (length(public_key) <= 2000),
  sign_count bigint not null default 0,
  title text not null check (length(title) between 1 and 100),
  created_time timestamptz not null default now(), used_time timestamptz
);
create index login_passkey_login on login_passkey (login_id);

create table login_session (
  digest bytea primary key check (length(digest) = 32), -- of the cookie, which is stored nowhere
  session_id text collate "C" not null unique,
  login_id text collate "C" not null references login on delete cascade,
  organization_id text collate "C" not null, user_id text collate "C" not null, -- as whom it acts now
  device text not null check (length(device) <= 200), network text not null check (length(network) <= 50),
  created_time timestamptz not null default now(),
  seen_time timestamptz not null default now(), -- to the hour
  proven_time timestamptz not null default now(), -- of the last password or passkey
  expires_time timestamptz not null,
  foreign key (organization_id, user_id) references organization_user on delete cascade
);
create index login_session_login on login_session (login_id, created_time desc);
create index login_session_user on login_session (organization_id, user_id);
create index login_session_end on login_session (expires_time);

create table login_link ( -- works once, by POST: set-up, an invitation, a reset, a change of address
  digest bytea primary key check (length(digest) = 32),
  purpose text not null check (purpose in ('setup', 'invitation', 'reset', 'address')),
  organization_id text collate "C", user_id text collate "C",
  login_id text collate "C" references login on delete cascade,
  email text check (length(email) between 3 and 320),
  created_time timestamptz not null default now(), expires_time timestamptz not null,
  foreign key (organization_id, user_id) references organization_user on delete cascade
);
create index login_link_user on login_link (organization_id, user_id);
create index login_link_login on login_link (login_id);
create index login_link_end on login_link (expires_time);

create table login_failure ( -- wrong passwords and codes, by login and network or device
  key bytea primary key check (length(key) = 32),
  failures integer not null,
  since timestamptz not null
);
create index login_failure_age on login_failure (since);

alter table organization_user add column login_id text collate "C" references login; -- null: cannot log in yet
create index organization_user_login on organization_user (login_id) where login_id is not null;

alter table notice_mail
  add column purpose text check (purpose in ('invitation', 'reset', 'address', 'warning')), -- null: it carries notices
  add column recipient text check (length(recipient) <= 320), -- where it is not the user's own address
  add column link bytea check (length(link) <= 1000); -- sealed, since it opens something
