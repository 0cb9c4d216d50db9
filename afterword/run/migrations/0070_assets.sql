-- Pictures that organizations uploaded, as we encoded them.
set local lock_timeout = '4s';

create table asset (
  organization_id text collate "C" not null references organization,
  asset_id text collate "C" not null,
  title text check (length(title) between 1 and 255), -- the name of the file
  media_type text not null check (media_type in ('image/png', 'image/jpeg')),
  width integer not null check (width between 1 and 1600),
  height integer not null check (height between 1 and 1600),
  bytes integer not null check (bytes = octet_length(content)),
  content_hash bytea not null check (octet_length(content_hash) = 32),
  content bytea not null check (octet_length(content) between 1 and 1000000),
  created_time timestamptz not null,
  created_by text collate "C",
  primary key (organization_id, asset_id)
);
alter table asset alter column content set storage external; -- it is compressed
create unique index asset_content on asset (organization_id, content_hash); -- the same picture is stored once
create index asset_address on asset (asset_id); -- browsers know no organization
create index asset_list on asset (organization_id, created_time desc, asset_id);

create trigger audit after insert or delete on asset
  for each row execute function write_audit_entry('asset', 'asset_id', 'content content_hash');
