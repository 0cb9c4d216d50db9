-- no transaction
-- What was made with a token, for its revocation.
create index concurrently token_maker on token (organization_id, made_by_token_id) where made_by_token_id is not null;
