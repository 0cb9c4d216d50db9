-- Owners of new cases by a field of the response, and by open cases.
set local lock_timeout = '4s';

alter table alert add column assignment jsonb;
