-- The mailbox in which answers of customers arrive.
set local lock_timeout = '4s';

create table alert_mailbox (
  organization_id text collate "C" primary key references organization,
  address text check (length(address) between 3 and 320), -- null: answers by mail are not set up
  host text collate "C" check (length(host) between 1 and 253), -- null: nobody reads it by IMAP
  port integer not null default 993 check (port between 1 and 65535),
  security text collate "C" not null default 'tls' check (security in ('tls', 'starttls')),
  username text check (length(username) between 1 and 320),
  folder text not null default 'INBOX' check (length(folder) between 1 and 200),
  sealed_password bytea check (length(sealed_password) <= 2000),
  version bigint not null default 1,
  updated_time timestamptz not null, updated_by text collate "C",
  due_time timestamptz not null default now(), -- of the next reading
  lease_until timestamptz, epoch bigint not null default 0, -- of the reading that is under way
  uid_validity bigint, last_uid bigint not null default 0, -- mails up to this one were taken
  read_time timestamptz, mail_count bigint,
  problem text collate "C" check (length(problem) between 1 and 40),
  problem_time timestamptz, -- it cannot be read since
  server_reply text check (length(server_reply) <= 300),
  answer_count bigint not null default 0, answer_time timestamptz,
  skipped_count bigint not null default 0,
  check ((problem is null) = (problem_time is null))
);
create index alert_mailbox_due on alert_mailbox (due_time) where host is not null;
-- Readings are not noted.
create trigger audit after insert or delete or update of address, host, port, security, username, folder, sealed_password
  on alert_mailbox for each row
  execute function write_audit_entry('alert_mailbox', 'organization_id',
    'sealed_password due_time lease_until epoch uid_validity last_uid read_time mail_count problem problem_time server_reply answer_count answer_time skipped_count');
