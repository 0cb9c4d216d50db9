-- The role and the database of Afterword: psql on the primary, with DATABASE_PASSWORD in its environment. It may run again.
\getenv password DATABASE_PASSWORD
select 'create role afterword login' where not exists (select from pg_roles where rolname = 'afterword') \gexec
alter role afterword password :'password';
select 'create database afterword owner afterword'
where not exists (select from pg_database where datname = 'afterword') \gexec
