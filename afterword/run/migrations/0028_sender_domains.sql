-- The domains, or single addresses, that an organization's mails may come from, in lower case.
create table organization_sender_domain (
  organization_id text collate "C" not null references organization,
  domain text collate "C" not null check (length(domain) between 3 and 320),
  created_time timestamptz not null default now(),
  primary key (organization_id, domain)
);

-- Pipelines go on: their domains are allowed, of a domain that several organizations send from the single addresses.
insert into organization_sender_domain (organization_id, domain)
select distinct p.organization_id, case when shared.domain is null then p.domain else p.address end
from (
  select organization_id, lower(btrim(sender_address)) as address,
    substring(lower(btrim(sender_address)) from '[^@]*$') as domain
  from pipeline
  where sender_address is not null and deleted_time is null) p
left join (
  select substring(lower(btrim(sender_address)) from '[^@]*$') as domain
  from pipeline
  where sender_address is not null and deleted_time is null
  group by 1 having count(distinct organization_id) > 1) shared on shared.domain = p.domain
where length(p.domain) >= 3;
