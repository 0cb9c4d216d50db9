-- Kept counts tell how many people gave the answers, up to the minimum base: a group is small where its people are few.
alter table rollup_span add column people_max integer not null default 0; -- 0: none are kept; it is counted again
alter table rollup_count add column people bigint[]; -- hashes of ids; null: written by the release before

-- The release before counts days without people, until its last process is restarted; they are counted again.
create function mark_day_without_people() returns trigger language plpgsql as $$
begin
  insert into rollup_dirty (organization_id, questionnaire_id, dimension, day, marked_time)
  values (new.organization_id, new.questionnaire_id, new.dimension, new.day, now()) on conflict do nothing;
  return new;
end $$;
create trigger rollup_count_people before insert on rollup_count for each row
  when (new.people is null) execute function mark_day_without_people();
