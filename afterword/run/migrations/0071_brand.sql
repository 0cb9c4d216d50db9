-- The look that pages and mails of an organization, and of an application, inherit.
set local lock_timeout = '4s';

alter table organization add column brand jsonb not null default '{}'
  constraint organization_brand_check check (jsonb_typeof(brand) = 'object' and length(brand::text) <= 80000);
alter table application add column brand jsonb not null default '{}'
  constraint application_brand_check check (jsonb_typeof(brand) = 'object' and length(brand::text) <= 80000);

-- The column `logo` stays for the release before, which reads it.
update organization set brand = jsonb_build_object('logo', logo) where logo is not null;
