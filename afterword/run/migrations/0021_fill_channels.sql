-- no transaction: instances of earlier releases take channel and pipeline from their items, 5,000 to a transaction
do $$ declare
  organization questionnaire_instance.organization_id%type := '';
  instance questionnaire_instance.instance_id%type := '';
begin
  loop
    perform set_config('lock_timeout', '500ms', true);
    with passed as materialized (
      select i.organization_id, i.instance_id, i.item_id, i.pipeline_id from questionnaire_instance i
      where (i.organization_id, i.instance_id) > (organization, instance)
      order by i.organization_id, i.instance_id limit 5000),
    filled as (
      update questionnaire_instance i set channel_id = l.channel_id, pipeline_id = l.pipeline_id
      from passed p
      join queue_item t on t.organization_id = p.organization_id and t.item_id = p.item_id
      join pipeline l on l.organization_id = t.organization_id and l.pipeline_id = t.pipeline_id
      where i.organization_id = p.organization_id and i.instance_id = p.instance_id and p.pipeline_id is null)
    select p.organization_id, p.instance_id into organization, instance from passed p order by 1 desc, 2 desc limit 1;
    exit when not found;
    commit;
  end loop;
end $$
