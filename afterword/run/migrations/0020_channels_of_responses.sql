-- The channel and the pipeline that an instance was sent through. Queue items are removed after a while; these stay.
alter table questionnaire_instance
  add column channel_id smallint,
  add column pipeline_id text collate "C"; -- no key: decision 7

-- The release before issues instances without them, until its last process is restarted.
create function give_channel() returns trigger language plpgsql as $$
begin
  select l.channel_id, l.pipeline_id into new.channel_id, new.pipeline_id from queue_item t
  join pipeline l on l.organization_id = t.organization_id and l.pipeline_id = t.pipeline_id
  where t.organization_id = new.organization_id and t.item_id = new.item_id;
  return new;
end $$;
create trigger questionnaire_instance_channel before insert on questionnaire_instance for each row
  when (new.item_id is not null and new.pipeline_id is null) execute function give_channel();
