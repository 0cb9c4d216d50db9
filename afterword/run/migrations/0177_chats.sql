-- Chats that are told of cases and get reports. Cards wait among the mails to users.
set local lock_timeout = '4s';

create table chat (
  organization_id text collate "C" not null references organization,
  chat_id text collate "C" not null,
  title text not null check (length(title) between 1 and 200),
  kind text collate "C" not null check (length(kind) between 1 and 40),
  host text collate "C" not null check (length(host) between 1 and 260), -- of its address
  sealed_address bytea not null check (length(sealed_address) <= 4000),
  active boolean not null default true,
  comments boolean not null default true, -- cards have the customer's words and the order
  locale text collate "C" not null check (length(locale) between 2 and 35),
  sent_time timestamptz, -- of the last card that it took
  problem text check (length(problem) <= 500), -- of the last card, where it failed
  failing_since timestamptz, disabled_time timestamptz,
  resume_time timestamptz, -- the chat asked for a pause
  version bigint not null default 1,
  created_time timestamptz not null, updated_time timestamptz not null, created_by text, updated_by text,
  primary key (organization_id, chat_id)
);
-- Cards are not noted.
create trigger audit after insert or delete or update of title, kind, host, sealed_address, active, comments, locale
  on chat for each row
  execute function write_audit_entry('chat', 'chat_id',
    'sealed_address sent_time problem failing_since disabled_time resume_time');

alter table alert add column chat_ids text[] not null default '{}' check (cardinality(chat_ids) <= 10);

alter table report_digest add column chat_id text collate "C",
  add constraint report_digest_chat_fkey foreign key (organization_id, chat_id) references chat on delete cascade,
  add constraint report_digest_chat_check check (chat_id is null or recipient is null);
create index report_digest_chat on report_digest (organization_id, chat_id) where chat_id is not null;

alter table notice_mail add column chat_id text collate "C",
  add constraint notice_mail_chat_fkey foreign key (organization_id, chat_id) references chat on delete cascade,
  drop constraint notice_mail_purpose_check,
  add constraint notice_mail_purpose_check check (
    purpose in ('invitation', 'reset', 'address', 'warning', 'digest', 'answer', 'consent', 'card')) not valid;
create index notice_mail_chat on notice_mail (organization_id, chat_id, due_time)
  where state = 'waiting' and chat_id is not null;
