-- no transaction
create index concurrently responder_words on responder using gin ((
    to_tsvector('simple', organization_id) || jsonb_to_tsvector('simple',
      translate(regexp_replace(normalize((metadata - '{email,phone_number}'::text[])::text, nfd), '[\u0300-\u036f]', '', 'g'),
        'ς-./@+_', 'σ      ')::jsonb, '["string"]')))
  where metadata - '{email,phone_number}'::text[] <> '{}'; -- a search finds people by name, and by other values
