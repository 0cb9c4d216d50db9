-- With which token a token was made: it ends when that one is revoked. Null for those of operators, and of before.
alter table token add column made_by_token_id text collate "C";
