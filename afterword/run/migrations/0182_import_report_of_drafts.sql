-- What became of each thing of the file of another system from which a draft was made.
set local lock_timeout = '4s';

alter table questionnaire_draft add column import_report jsonb check (jsonb_typeof(import_report) = 'object');
