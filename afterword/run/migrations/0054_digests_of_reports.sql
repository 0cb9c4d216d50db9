-- Digests of reports by mail, and the figures that such a mail carries.
set local lock_timeout = '4s';

create table report_digest (
  organization_id text collate "C" not null,
  digest_id text collate "C" not null,
  user_id text collate "C" not null,
  report_id text collate "C", -- null: the overview
  frequency text not null check (frequency in ('weekly', 'monthly')),
  day smallint not null check (day between 1 and case frequency when 'weekly' then 7 else 28 end), -- Monday is 1
  hour smallint not null check (hour between 0 and 23), -- in the organization's time zone
  locale text not null check (length(locale) <= 35),
  due_time timestamptz not null,
  sent_time timestamptz,
  created_time timestamptz not null default now(),
  primary key (organization_id, digest_id),
  foreign key (organization_id, user_id) references organization_user on delete cascade,
  foreign key (organization_id, report_id) references custom_report on delete cascade
);
create index report_digest_user on report_digest (organization_id, user_id);
create index report_digest_report on report_digest (organization_id, report_id);
create index report_digest_due on report_digest (due_time);

create trigger audit after insert or delete on report_digest
  for each row execute function write_audit_entry('report_digest', 'digest_id', '');

alter table notice_mail add column content jsonb check (length(content::text) <= 100000);
alter table notice_mail drop constraint notice_mail_purpose_check;
alter table notice_mail add constraint notice_mail_purpose_check
  check (purpose in ('invitation', 'reset', 'address', 'warning', 'digest'));
