-- The draft before its last change, which the editor's "Undo" restores.
set local lock_timeout = '4s';

alter table questionnaire_draft add column before jsonb;
