-- Scores as notes to the ticket or order that they are about. Notes wait among the mails to users, under the id of their response.
set local lock_timeout = '4s';

alter table source
  add column note_active boolean not null default false,
  add column note_address text check (length(note_address) <= 2048),
  add column note_user text check (length(note_user) <= 200),
  add column sealed_note_token bytea check (length(sealed_note_token) <= 4000),
  add column note_sent_time timestamptz, -- of the last note that it took
  add column note_problem text check (length(note_problem) <= 500), -- of the last note, where it failed
  add column note_failing_since timestamptz,
  add column note_disabled_time timestamptz,
  add column note_resume_time timestamptz;
drop trigger audit on source;
create trigger audit
  after insert or delete or update of application_id, title, kind, active, settings, sealed_secret, note_active,
    note_address, note_user, sealed_note_token on source
  for each row execute function write_audit_entry('source', 'source_id', 'sealed_secret last_time refused_count '
    'refused_time problem sealed_note_token note_sent_time note_problem note_failing_since note_disabled_time '
    'note_resume_time');

alter table notice_mail add column source_id text collate "C",
  add constraint notice_mail_source_fkey foreign key (organization_id, source_id) references source on delete cascade,
  drop constraint notice_mail_purpose_check,
  add constraint notice_mail_purpose_check check (purpose in (
    'invitation', 'reset', 'address', 'warning', 'digest', 'answer', 'consent', 'card', 'note')) not valid;
create index notice_mail_source on notice_mail (organization_id, source_id, due_time) where source_id is not null;

-- The ticket or order of which an item was made; events go sooner than answers come.
create table source_item (
  organization_id text collate "C" not null references organization,
  item_id text collate "C" not null,
  source_id text collate "C" not null,
  object_id text collate "C" not null check (length(object_id) between 1 and 64),
  what text not null,
  primary key (organization_id, item_id),
  foreign key (organization_id, item_id) references queue_item on delete cascade,
  foreign key (organization_id, source_id) references source on delete cascade
);
create index source_item_source on source_item (organization_id, source_id);
