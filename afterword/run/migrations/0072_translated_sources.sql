-- Texts that changed after they were translated: by language and key, the text that the translation was made for.
alter table questionnaire_draft add column translated_sources jsonb;
