-- The role and the database of Afterword: psql on the primary, with DATABASE_PASSWORD in its environment. It may run again.
\getenv password DATABASE_PASSWORD
select 'create role afterword login' where not exists (select from pg_roles where rolname = 'afterword') \gexec
alter role afterword password :'password';
-- A pooler passes no limits on, so the role has them.
alter role afterword set statement_timeout = '5s';
alter role afterword set lock_timeout = '2s';
alter role afterword set idle_in_transaction_session_timeout = '20s';
alter role afterword set jit = off;
select 'create database afterword owner afterword'
where not exists (select from pg_database where datname = 'afterword') \gexec
