-- Files in the folder that no response lists: not yet, or not any more. A worker removes them when they are due.
set local lock_timeout = '4s';

create table stray_file (
  organization_id text collate "C" not null,
  file_id text collate "C" not null,
  due_time timestamptz not null,
  primary key (organization_id, file_id)
);
create index stray_file_due on stray_file (due_time);

create function note_stray_file() returns trigger language plpgsql as $$
begin
  insert into stray_file (organization_id, file_id, due_time)
  select organization_id, file_id, now() from gone where content is null
  on conflict (organization_id, file_id) do update set due_time = excluded.due_time;
  return null;
end $$;

create trigger note_stray after delete on response_file
  referencing old table as gone for each statement execute function note_stray_file();
