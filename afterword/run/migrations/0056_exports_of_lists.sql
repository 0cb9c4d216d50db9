-- Exports of responses that were chosen from the list of all questionnaires.
set local lock_timeout = '4s';

alter table export add column questionnaire_ids text[], -- of the responses that were chosen
  add column instance_ids text[], -- these responses in their order, until the export ends
  add column selected_count integer,
  alter column questionnaire_id drop not null,
  add check ((questionnaire_id is null) = (selected_count is not null));
create index export_of_lists on export (organization_id, created_by, created_time desc, export_id)
  where questionnaire_id is null;

drop trigger audit on export;
create trigger audit after insert on export
  for each row execute function write_audit_entry('export', 'export_id', 'owner filter instance_ids', 'exported');
