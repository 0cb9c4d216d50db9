-- Settings of the box in which a public link is shown on the application's websites.
alter table public_link
  add column box jsonb check (jsonb_typeof(box) = 'object' and length(box::text) <= 10000);
