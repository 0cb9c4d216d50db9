-- Pinned reports, and links by which somebody without a login reads the figures of a report until they end.
set local lock_timeout = '4s';

alter table custom_report add column pinned_time timestamptz;

create table report_share (
  organization_id text collate "C" not null,
  share_id text collate "C" not null,
  report_id text collate "C" not null,
  digest bytea not null check (length(digest) = 32), -- of the secret in the address, which is stored nowhere
  application_ids text[] not null default '{}', -- those that its maker reached; none: all
  expires_time timestamptz not null,
  created_time timestamptz not null default now(),
  created_by text,
  primary key (organization_id, share_id),
  unique (organization_id, digest),
  foreign key (organization_id, report_id) references custom_report on delete cascade
);
create index report_share_report on report_share (organization_id, report_id);
create index report_share_age on report_share (expires_time);

create trigger audit after insert or delete on report_share
  for each row execute function write_audit_entry('report_share', 'share_id', 'digest');
