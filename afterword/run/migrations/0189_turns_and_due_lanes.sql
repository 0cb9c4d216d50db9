-- Turns of periodic work, notes of lanes that may have something due, and how far readers may follow the log.
set local lock_timeout = '4s';

alter table job_timeout
  alter total set default 0,
  alter last_time drop not null,
  add next_time timestamptz not null default '-infinity',
  add owner uuid; -- the run that had the turn last

-- Each scheduled item has a note of its lane, at its due time or before.
create table lane_due (
  organization_id text collate "C" not null,
  pipeline_id text collate "C" not null,
  due_time timestamptz not null,
  note_id uuid not null default gen_random_uuid(), -- nobody waits for the same note of another transaction
  closed boolean not null default false, -- something is due, and the lane was closed: it is looked at again then
  primary key (organization_id, pipeline_id, due_time, note_id)
);
create index lane_due_time on lane_due (due_time);
create index lane_due_closed on lane_due (organization_id, pipeline_id) where closed;

create function wake_lanes() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'pipeline' then
    insert into lane_due (organization_id, pipeline_id, due_time)
    values (new.organization_id, new.pipeline_id, now());
  elsif tg_table_name = 'channel_account' then
    insert into lane_due (organization_id, pipeline_id, due_time)
    select organization_id, pipeline_id, now() from pipeline
    where organization_id = new.organization_id and account_id = new.account_id;
  else
    insert into lane_due (organization_id, pipeline_id, due_time)
    select organization_id, pipeline_id, now() from pipeline where organization_id = new.organization_id;
  end if;
  return null;
end $$;

create trigger wake after update of paused, account_id, channel_id on pipeline for each row
  when ((old.paused and not new.paused) or (old.account_id, old.channel_id) <> (new.account_id, new.channel_id))
  execute function wake_lanes();
create trigger wake after update of paused_time, open_until, settings on channel_account for each row
  when ((old.paused_time is not null and new.paused_time is null)
    or coalesce(new.open_until, '-infinity') < old.open_until or (old.settings is null and new.settings is not null))
  execute function wake_lanes();
create trigger wake after update of active on application for each row
  when (new.active and not old.active) execute function wake_lanes();
create trigger wake_first after insert on plan for each row execute function wake_lanes();
create trigger wake after update on plan for each row
  when (new.state = 'active' and (old.state <> 'active' or new.start_time < old.start_time
    or coalesce(new.end_time, 'infinity') > old.end_time
    or coalesce(new.remaining_credits, 0) + new.extra_credits > coalesce(old.remaining_credits, 0) + old.extra_credits))
  execute function wake_lanes();
create trigger wake after update of credits_accountable, owner_application_id on questionnaire for each row
  when ((old.credits_accountable and not new.credits_accountable)
    or old.owner_application_id <> new.owner_application_id)
  execute function wake_lanes();

-- After the foreign key's lock on the pipeline, without which nobody removes its notes.
create function note_new_items() returns trigger language plpgsql as $$
begin
  insert into lane_due (organization_id, pipeline_id, due_time)
  select i.organization_id, i.pipeline_id, i.due_time
  from (select organization_id, pipeline_id, min(due_time) as due_time from inserted where status = 1 group by 1, 2) i
  where not exists (
    select from lane_due n
    where n.organization_id = i.organization_id and n.pipeline_id = i.pipeline_id and n.due_time <= i.due_time);
  return null;
end $$;

-- An update has no lock on the pipeline, so that only a note of its own transaction is sure to stay.
create function note_moved_item() returns trigger language plpgsql as $$
begin
  insert into lane_due (organization_id, pipeline_id, due_time)
  select new.organization_id, new.pipeline_id, new.due_time
  where not exists (
    select from lane_due n
    where n.organization_id = new.organization_id and n.pipeline_id = new.pipeline_id and n.due_time <= new.due_time
      and n.xmin = pg_current_xact_id()::xid);
  return null;
end $$;

create trigger note_inserted after insert on queue_item referencing new table as inserted
  for each statement execute function note_new_items();
create trigger note_moved after update on queue_item for each row
  when (new.status = 1
    and (old.status <> 1 or new.due_time < old.due_time or new.pipeline_id <> old.pipeline_id))
  execute function note_moved_item();

insert into lane_due (organization_id, pipeline_id, due_time) select organization_id, pipeline_id, now() from pipeline;

-- The first transaction that was under way when `seen` was taken, and may still write events. One that holds a lock on a
-- table of another database writes none here. Its virtual number is never given again, so it does not matter that locks
-- are read later than `seen` was taken. `xid`s are compared without their epoch: no two that are under way share them.
create function readable_before(seen pg_snapshot) returns xid8 language plpgsql stable as $$
declare
  held xid8;
begin
  if pg_is_in_recovery() or not exists (select from event where xid >= pg_snapshot_xmin(seen)) then
    return pg_snapshot_xmin(seen);
  end if;
  select under_way into held from pg_snapshot_xip(seen) under_way
  where under_way::xid not in (
    select t.transactionid from pg_locks t
    join pg_locks r on r.virtualtransaction = t.virtualtransaction
    where t.locktype = 'transactionid' and t.mode = 'ExclusiveLock' and t.granted and r.locktype = 'relation'
      and r.database not in (0, (select oid from pg_database where datname = current_database())))
  order by under_way limit 1;
  return coalesce(held, pg_snapshot_xmax(seen));
end $$;
