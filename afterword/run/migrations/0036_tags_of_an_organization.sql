-- no transaction
create index concurrently instance_tag_of on instance_tag (organization_id, tag, instance_id); -- responses with a tag, and how many each tag has
