-- access tokens: kept for 1:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.access_token_id from access_token o
             where o.expires_time <= $1 and true order by o.expires_time limit $2 for update skip locked)
           delete from access_token t using old where (t.organization_id, t.access_token_id) = (old.organization_id, old.access_token_id);

-- sessions: kept for 0:00:00, at most 1000 at once
with old as materialized (
             select o.digest from login_session o
             where o.expires_time <= $1 and true order by o.expires_time limit $2 for update skip locked)
           delete from login_session t using old where (t.digest) = (old.digest);

-- idle sessions: kept for 14 days, 0:00:00, at most 1000 at once
with x as materialized (
             select expires_time, session_id from login_session where (expires_time, session_id) > ($4, $5) order by expires_time, session_id limit $3),
           old as materialized (
             select o.digest from x, lateral (
               select digest, seen_time from login_session s where s.session_id = x.session_id offset 0) o where o.seen_time <= $1 and true limit $2)
           delete from login_session t using old where (t.digest) = (old.digest);

-- log-in links: kept for 0:00:00, at most 1000 at once
with old as materialized (
             select o.digest from login_link o
             where o.expires_time <= $1 and true order by o.expires_time limit $2 for update skip locked)
           delete from login_link t using old where (t.digest) = (old.digest);

-- challenges of passkeys: kept for 0:00:00, at most 1000 at once
with old as materialized (
             select o.digest from login_challenge o
             where o.expires_time <= $1 and true order by o.expires_time limit $2 for update skip locked)
           delete from login_challenge t using old where (t.digest) = (old.digest);

-- failed log-ins: kept for 0:15:00, at most 1000 at once
with old as materialized (
             select o.key from login_failure o
             where o.since <= $1 and true order by o.since limit $2 for update skip locked)
           delete from login_failure t using old where (t.key) = (old.key);

-- idempotency keys: kept for 1 day, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.key from idempotency_key o
             where o.created_time <= $1 and true order by o.created_time limit $2 for update skip locked)
           delete from idempotency_key t using old where (t.organization_id, t.key) = (old.organization_id, old.key);

-- links to reports: kept for 30 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.share_id from report_share o
             where o.expires_time <= $1 and true order by o.expires_time limit $2 for update skip locked)
           delete from report_share t using old where (t.organization_id, t.share_id) = (old.organization_id, old.share_id);

-- the time of exports: kept for 0:00:00, at most 1000 at once
with x as materialized (
             select expires_time, organization_id, export_id from export where (expires_time, organization_id, export_id) > ($4, $5, $6) and expires_time <= $1 order by expires_time, organization_id, export_id limit $3),
           old as materialized (
             select o.organization_id, o.export_id from x, lateral (
               select organization_id, export_id, state from export t
               where t.organization_id = x.organization_id and t.export_id = x.export_id limit $2) o where x.expires_time <= $1 and o.state = 'done' limit $2)
           update export t set state = 'expired', version = t.version + 1 from old where (t.organization_id, t.export_id) = (old.organization_id, old.export_id);

-- files of exports: kept for 0:00:00, at most 200 at once
with x as materialized (
             select expires_time, organization_id, export_id from export where (expires_time, organization_id, export_id) > ($4, $5, $6) and expires_time <= $1 order by expires_time, organization_id, export_id limit $3),
           old as materialized (
             select o.organization_id, o.export_id, o.number from x, lateral (
               select organization_id, state from export t
               where t.organization_id = x.organization_id and t.export_id = x.export_id limit $2) e,
             lateral (
               select organization_id, export_id, number from export_piece t
               where t.organization_id = x.organization_id and t.export_id = x.export_id limit $2) o where x.expires_time <= $1 and e.state = 'expired' limit $2)
           delete from export_piece t using old where (t.organization_id, t.export_id, t.number) = (old.organization_id, old.export_id, old.number);

-- exports: kept for 90 days, 0:00:00, at most 1000 at once
with x as materialized (
             select expires_time, organization_id, export_id from export where (expires_time, organization_id, export_id) > ($4, $5, $6) and expires_time <= $1 order by expires_time, organization_id, export_id limit $3),
           old as materialized (
             select o.organization_id, o.export_id from x, lateral (
               select organization_id, export_id, state from export t
               where t.organization_id = x.organization_id and t.export_id = x.export_id limit $2) o where x.expires_time <= $1 and o.state in ('expired', 'failed', 'cancelled') limit $2)
           delete from export t using old where (t.organization_id, t.export_id) = (old.organization_id, old.export_id);

-- runs of exports on a timetable: kept for 90 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.run_id from export_run o
             where o.finished_time <= $1 and true order by o.finished_time limit $2 for update skip locked)
           delete from export_run t using old where (t.organization_id, t.run_id) = (old.organization_id, old.run_id);

-- rests of imports: kept for 7 days, 0:00:00, at most 10 at once
with x as materialized (
             select finished_time, organization_id, import_id from queue_import where (finished_time, organization_id, import_id) > ($4, $5, $6) and finished_time <= $1 order by finished_time, organization_id, import_id limit $3),
           old as materialized (
             select o.organization_id, o.import_id, o.number from x, lateral (
               select organization_id, import_id, number from queue_import_piece t
               where t.organization_id = x.organization_id and t.import_id = x.import_id limit $2) o where x.finished_time <= $1 and true limit $2)
           delete from queue_import_piece t using old where (t.organization_id, t.import_id, t.number) = (old.organization_id, old.import_id, old.number);

-- rows of imports: kept for 30 days, 0:00:00, at most 1000 at once
with x as materialized (
             select finished_time, organization_id, import_id from queue_import where (finished_time, organization_id, import_id) > ($4, $5, $6) and finished_time <= $1 order by finished_time, organization_id, import_id limit $3),
           old as materialized (
             select o.organization_id, o.import_id, o.row from x, lateral (
               select organization_id, import_id, row from queue_import_row t
               where t.organization_id = x.organization_id and t.import_id = x.import_id limit $2) o where x.finished_time <= $1 and true limit $2)
           delete from queue_import_row t using old where (t.organization_id, t.import_id, t.row) = (old.organization_id, old.import_id, old.row);

-- imports: kept for 30 days, 0:00:00, at most 1000 at once
with x as materialized (
             select finished_time, organization_id, import_id from queue_import where (finished_time, organization_id, import_id) > ($4, $5, $6) and finished_time <= $1 order by finished_time, organization_id, import_id limit $3),
           old as materialized (
             select o.organization_id, o.import_id from x o where o.finished_time <= $1 and not exists (select from queue_import_row r
               where r.organization_id = o.organization_id and r.import_id = o.import_id) limit $2)
           delete from queue_import t using old where (t.organization_id, t.import_id) = (old.organization_id, old.import_id);

-- files of lists: kept for 7 days, 0:00:00, at most 10 at once
with x as materialized (
             select created_time, organization_id, list_id from queue_list where (created_time, organization_id, list_id) > ($4, $5, $6) and created_time <= $1 order by created_time, organization_id, list_id limit $3),
           old as materialized (
             select o.organization_id, o.list_id from x, lateral (
               select organization_id, list_id, content from queue_list t
               where t.organization_id = x.organization_id and t.list_id = x.list_id limit $2) o where x.created_time <= $1 and o.content is not null limit $2)
           update queue_list t set content = null from old where (t.organization_id, t.list_id) = (old.organization_id, old.list_id);

-- lists: kept for 30 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.list_id from queue_list o
             where o.created_time <= $1 and true order by o.created_time limit $2 for update skip locked)
           delete from queue_list t using old where (t.organization_id, t.list_id) = (old.organization_id, old.list_id);

-- acts on many items: kept for 30 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.batch_id from queue_batch o
             where o.finished_time <= $1 and true order by o.finished_time limit $2 for update skip locked)
           delete from queue_batch t using old where (t.organization_id, t.batch_id) = (old.organization_id, old.batch_id);

-- events of sources: kept for 30 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.source_event_id from source_event o
             where o.received_time <= $1 and true order by o.received_time limit $2 for update skip locked)
           delete from source_event t using old where (t.organization_id, t.source_event_id) = (old.organization_id, old.source_event_id);

-- the outbox: kept for 30 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.message_id from outbox_message o
             where o.created_time <= $1 and true order by o.created_time limit $2 for update skip locked)
           delete from outbox_message t using old where (t.organization_id, t.message_id) = (old.organization_id, old.message_id);

-- test messages: kept for 0:20:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.trial_id from trial o
             where o.created_time <= $1 and true order by o.created_time limit $2 for update skip locked)
           delete from trial t using old where (t.organization_id, t.trial_id) = (old.organization_id, old.trial_id);

-- deliveries: kept for 30 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.delivery_id from delivery o
             where o.finished_time <= $1 and true order by o.finished_time limit $2 for update skip locked)
           delete from delivery t using old where (t.organization_id, t.delivery_id) = (old.organization_id, old.delivery_id);

-- deliveries that wait for webhooks that are switched off: kept for 90 days, 0:00:00, at most 1000 at once
with x as materialized (
             select organization_id, webhook_id from webhook where (organization_id, webhook_id) > ($4, $5) order by organization_id, webhook_id limit $3),
           old as materialized (
             select o.organization_id, o.delivery_id from x, lateral (
               select organization_id, active from webhook t
               where t.organization_id = x.organization_id and t.webhook_id = x.webhook_id limit $2) w, lateral (
               select d.organization_id, d.delivery_id, d.created_time, d.state from delivery d
               where d.organization_id = x.organization_id and d.webhook_id = x.webhook_id and d.created_time <= $1
               order by d.created_time limit $2) o where o.created_time <= $1 and not w.active and o.state = 'scheduled' limit $2)
           delete from delivery t using old where (t.organization_id, t.delivery_id) = (old.organization_id, old.delivery_id);

-- deliveries of deleted webhooks: kept for 0:00:00, at most 1000 at once
with x as materialized (
             select deleted_time, organization_id, webhook_id from webhook where (deleted_time, organization_id, webhook_id) > ($4, $5, $6) and deleted_time <= $1 order by deleted_time, organization_id, webhook_id limit $3),
           old as materialized (
             select o.organization_id, o.delivery_id from x, lateral (
               select d.organization_id, d.delivery_id from delivery d
               where d.organization_id = x.organization_id and d.webhook_id = x.webhook_id and d.state <> 'claimed'
               limit $2) o where x.deleted_time <= $1 and true limit $2)
           delete from delivery t using old where (t.organization_id, t.delivery_id) = (old.organization_id, old.delivery_id);

-- webhooks: kept for 0:00:00, at most 1000 at once
with x as materialized (
             select deleted_time, organization_id, webhook_id from webhook where (deleted_time, organization_id, webhook_id) > ($4, $5, $6) and deleted_time <= $1 order by deleted_time, organization_id, webhook_id limit $3),
           old as materialized (
             select o.organization_id, o.webhook_id from x o where o.deleted_time <= $1 and not exists (select from delivery d
               where d.organization_id = o.organization_id and d.webhook_id = o.webhook_id) limit $2)
           delete from webhook t using old where (t.organization_id, t.webhook_id) = (old.organization_id, old.webhook_id);

-- openings of scores in mails: kept for 2 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.instance_id, o.question_id, o.value from link_opening o
             where o.opened_time <= $1 and true order by o.opened_time limit $2 for update skip locked)
           delete from link_opening t using old where (t.organization_id, t.instance_id, t.question_id, t.value) = (old.organization_id, old.instance_id, old.question_id, old.value);

-- notifications: kept for 90 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.notification_id from notification o
             where o.created_time <= $1 and true order by o.created_time limit $2 for update skip locked)
           delete from notification t using old where (t.organization_id, t.notification_id) = (old.organization_id, old.notification_id);

-- notice mails: kept for 90 days, 0:00:00, at most 1000 at once
with old as materialized (
             select o.organization_id, o.mail_id from notice_mail o
             where o.finished_time <= $1 and true order by o.finished_time limit $2 for update skip locked)
           delete from notice_mail t using old where (t.organization_id, t.mail_id) = (old.organization_id, old.mail_id);

-- imports of responses that were removed: kept for 30 days, 0:00:00, at most 1000 at once
with x as materialized (
             select organization_id, response_import_id from response_import where (organization_id, response_import_id) > ($4, $5) order by organization_id, response_import_id limit $3),
           old as materialized (
             select o.organization_id, o.response_import_id from x, lateral (
               select organization_id, response_import_id, state, updated_time from response_import t
               where t.organization_id = x.organization_id and t.response_import_id = x.response_import_id limit $2) o where o.updated_time <= $1 and o.state = 'removed' limit $2)
           delete from response_import t using old where (t.organization_id, t.response_import_id) = (old.organization_id, old.response_import_id);

-- files of responses: kept for 7 days, 0:00:00, at most 2 at once
with old as materialized (
             select o.organization_id, o.response_import_id from response_upload o
             where o.created_time <= $1 and true order by o.created_time limit $2 for update skip locked)
           delete from response_upload t using old where (t.organization_id, t.response_import_id) = (old.organization_id, old.response_import_id);

-- taggings: kept for 30 days, 0:00:00, at most 5 at once
with old as materialized (
             select o.organization_id, o.tagging_id from tagging o
             where o.created_time <= $1 and true order by o.created_time limit $2 for update skip locked)
           delete from tagging t using old where (t.organization_id, t.tagging_id) = (old.organization_id, old.tagging_id);

