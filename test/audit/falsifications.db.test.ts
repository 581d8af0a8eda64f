/**
 * Who finds a falsification. Each entry of the table is a change that somebody with those rights makes in a database whose log is
 * sealed and signed; then the sealer goes on as it would, and everybody who checks looks.
 *
 *   refused   the server refuses the change: no right, or a CHECK
 *   sealer    the next turn of the sealer fails, and the log says why
 *   verify    `audit verify` has a finding
 *   named     … which names this object; these changes are made in one database and judged by one run
 *   head      only `audit verify --head` has one, with a head that was kept elsewhere
 *   balance   the balance has a difference
 *   check     `audit check` is false for the evidence of a delivery
 *   open      `audit check` is not true, or there is no evidence any more
 *   nobody    nothing of this finds it; the line with # says why
 */
import { describe, expect, test } from 'vitest';
import { addUp } from '../../src/audit/add-up-balance.ts';
import { readBalance } from '../../src/audit/balance.ts';
import type { TreeHead } from '../../src/audit/seals/tree/merkle.ts';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { readProof } from '../../src/audit/proof/proof.ts';
import { readTreeHead } from '../../src/audit/seals/seal-log.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { addDays, dayOf } from '../../src/contract/calendar.ts';
import { DEFAULT_INSTALLATION } from '../../src/db/installation.ts';
import type { Pool } from '../../src/db/pool.ts';
import { sealAndSign, SIGNER, TRUSTED } from '../support/checkpoint.ts';
import { createTestDatabase, openPool, type TestDatabase } from '../support/database.ts';
import { advance, startEngine } from '../support/engine.ts';
import { commitMarginEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { FAILED_MARGIN } from '../support/payloads.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

/**
 * `:d` is a delivery that failed once, was ordered again and arrived, `:e` its event; `:o` and `:f` another such. `:x` is still to be
 * sent, `:y` its event. All are of webhook `:w` of partner `:p`; `:v` is subscribed to other events, `:q` is another partner.
 */
const TABLE = `
[superuser: verify check] another status code
  update attempts set status_code = 204 where delivery_id = :d and number = 2
[superuser: verify check] a failure that becomes a success
  update attempts set outcome = 'entregue', status_code = 200 where delivery_id = :d and number = 1
[superuser: verify check] a success that becomes a failure, with the delivery's status
  update attempts set outcome = 'resposta_nao_2xx', status_code = 500 where delivery_id = :d and number = 2;
  update deliveries set status = 'erro' where id = :d
[superuser: verify check] an earlier attempt
  update attempts set started_at = started_at - interval '1 day' where delivery_id = :d
[superuser: verify check] another duration
  update attempts set duration_ms = 1 + duration_ms where delivery_id = :d
[superuser: verify check] another target
  update attempts set url = 'https://other.example/' where delivery_id = :d
[superuser: verify check] another address
  update attempts set address = '192.0.2.1' where delivery_id = :d
[superuser: verify check] another signing key
  update attempts set key_id = 'other' where delivery_id = :d
[superuser: verify check] another target of all attempts that went there
  update targets set url = 'https://other.example/' where id in (select target from attempts where delivery_id = :d)
[superuser: verify check] attempts whose target is gone
  delete from targets where id in (select target from attempts where delivery_id = :d)
[superuser: verify check] an attempt that names another target
  update attempts set target = 1 + target where delivery_id = :d
[superuser: verify check] another poller
  update attempts set claim = 'other/1' where delivery_id = :d
[superuser: verify check] another error
  update attempts set error = 'timeout' where delivery_id = :d
[superuser: verify check] another time of the record
  update attempts set recorded_at = recorded_at - interval '1 day' where delivery_id = :d
[superuser: verify check] a report that becomes late
  update attempts set late = true where delivery_id = :d and number = 2
[superuser: verify check] two attempts in the other order
  update attempts set number = 3 - number + 100 where delivery_id = :d;
  update attempts set number = number - 100 where delivery_id = :d
[superuser: verify check] another digest of the body
  update attempts set body_digest = sha256('x') where delivery_id = :d
[superuser: verify check] another answer
  update attempts set answer = 'ok' where delivery_id = :d and number = 1
[superuser: verify check] another salt of an answer
  update attempts set salt = sha256('x') where delivery_id = :d and number = 1
[superuser: verify check] an answer whose first byte moves into its salt
  update attempts set salt = salt || substr(convert_to(answer, 'UTF8'), 1, 1), answer = substr(answer, 2) where delivery_id = :d and number = 1
[superuser: verify check] another answer under a hash that was put in by hand
  update attempts set answer = 'ok', commitment = sha256(salt || 'ok') where delivery_id = :d and number = 1
[superuser: verify check] an answer taken away as if it had been erased
  update attempts set commitment = sha256(salt || convert_to(answer, 'UTF8')), answer = null, salt = null where delivery_id = :d and number = 1
[superuser: verify check] two deliveries' attempts that swap their events
  update attempts set event_id = case delivery_id when :d then :f::uuid else :e::uuid end where delivery_id in (:d, :o)
[superuser: verify check] two deliveries that swap their attempts
  update attempts set delivery_id = case delivery_id when :d then :o::uuid else :d::uuid end, number = number + 10
  where delivery_id in (:d, :o); update attempts set number = number - 10 where delivery_id in (:d, :o)
[superuser: verify check] attempts of another webhook
  update attempts set webhook_id = :v where delivery_id = :d
[superuser: verify check] attempts of another partner
  update attempts set partner_id = :q where delivery_id = :d
[superuser: verify check] a failed attempt removed
  delete from attempts where delivery_id = :d and number = 1
[superuser: verify check] the success removed
  delete from attempts where delivery_id = :d and number = 2
[superuser: verify] every attempt removed, and the delivery as if nobody had sent it
  # A file proves the rows that are in it, and not that there are no others.
  delete from attempts where delivery_id = :d; update deliveries set status = 'pendente', attempts = 0, failures = 0, next_attempt_at = now(), finished_at = null where id = :d
[superuser: verify check] an attempt moved into another seal's span
  update attempts set tx = (select max(tx::text::bigint)::text::xid8 from attempts) where delivery_id = :d and number = 1
[superuser: verify open] an attempt moved into an epoch that never was
  update attempts set epoch = 99 where delivery_id = :d and number = 1
[superuser: verify check] an attempt written into a seal's span
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, started_at, url, claim, tx)
  select :x, 1, :y, webhook_id, partner_id, 'desconhecido', now(), url, claim, tx from attempts where delivery_id = :d and number = 1
[superuser: verify open] an attempt of an epoch that never was
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, started_at, url, claim, epoch)
  values (:x, 1, :y, :w, :p, 'desconhecido', now(), 'https://x.example/', 'x/1', 99)
[superuser: verify open] an attempt of a transaction that has yet to come
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, started_at, url, claim, tx)
  values (:x, 1, :y, :w, :p, 'desconhecido', now(), 'https://x.example/', 'x/1', '9000000000')
[app: nobody] an attempt that was never made, with the digest of the body and the delivery's status
  # Who may record attempts is believed. The partner's own log shows it, which holds a checkpoint for each POST.
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, body_digest)
  select :x, 1, :y, :w, :p, 'entregue', 200, now(), 1, 'https://x.example/', 'x/1', sha256(salt || body) from messages where event_id = :y;
  update deliveries set status = 'entregue', attempts = 1, next_attempt_at = null, finished_at = now() where id = :x
[app: verify check] an attempt that was never made, with another body
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, body_digest)
  values (:x, 1, :y, :w, :p, 'entregue', 200, now(), 1, 'https://x.example/', 'x/1', sha256('x'))

[superuser: verify check] one more byte in the body
  update events set data = (data::text || ' ')::json where id = :e
[superuser: verify check] another body under a hash that was put in by hand
  update events set data = '{}', commitment = sha256(salt || 'x') where id = :e
[superuser: verify check] another body beside the hash of the one that was sent
  update events set commitment = (select sha256(m.salt || m.body) from messages m where event_id = :e), data = '{}' where id = :e
[superuser: verify check] a body taken away as if it had been erased
  update events set commitment = (select sha256(m.salt || m.body) from messages m where event_id = :e), data = '{}', salt = null where id = :e
[app: nobody] an event erased in somebody else's name
  # The order is sealed with its author, and the evidence names it; who may order is believed. The text is gone.
  :order; select erase_page(:x, 1)
[superuser: verify check] an order to erase that comes to cover another event
  :order; select erase_page(:x, 1);
  update erasure_pages set event_ids = array[:f::uuid]
[superuser: verify] what is left of an erased event, changed
  # A proof has nothing of what is left.
  :order; select erase_page(:x, 1); update events set data = '{}' where id = :e
[superuser: verify] what is left of an erased event, as its order says and not as its seal has it
  insert into erasure_orders (id, actor, reason, events, pages) values (:x, 'somebody', 'x', 1, 1);
  insert into erasure_pages (order_id, number, event_ids, remains) values (:x, 1, array[:e::uuid], array[sha256('{"valor":1}')]);
  update events set commitment = (select sha256(m.salt || m.body) from messages m where event_id = :e), data = '{"valor":1}', salt = null where id = :e;
  update attempts set commitment = sha256(salt || convert_to(answer, 'UTF8')), answer = null, salt = null where delivery_id = :d and answer is not null
[superuser: verify check] a seal's other digest of what erasing would leave
  update seals set remains = sha256('x') where number = 1
[superuser: verify check] no digest of what erasing would leave in a seal
  update seals set remains = null where number = 1
[superuser: verify check] an order to erase, removed when its work was done
  :order; select erase_page(:x, 1); delete from erasure_pages; delete from erasure_orders
[superuser: verify check] an erased text put back from an old copy
  create temp table old as select data, salt from events where id = :e; :order; :work; select erase_page(:x, 1); update erasures set next_page = 2; select end_erasure(:x); update events set data = old.data, salt = old.salt, commitment = null from old where id = :e
[superuser: verify] an erased answer put back from an old copy
  # In a file it would be an answer of the attempt all the same.
  create temp table old as select number, answer, salt from attempts where delivery_id = :d; :order; :work; select erase_page(:x, 1); update erasures set next_page = 2; select end_erasure(:x);
  update attempts a set answer = old.answer, salt = old.salt, commitment = null from old where delivery_id = :d and a.number = old.number
[app: verify] an order to erase whose pages were passed over
  :order; :work; update erasures set next_page = 2; select end_erasure(:x)
[superuser: nobody] an order to erase whose work was taken out of the list
  # verify says so when the order is a day old.
  :order; :work; delete from erasures
[superuser: nobody] an order to erase that was never looked for in the months' files
  # archive verify finds the texts (erased-month.db.test.ts). No read shows them.
  :order; :work; select erase_page(:x, 1); update erasures set next_page = 2; select end_erasure(:x); update erasures set looked_to = 1000000
[app: refused] a salt taken away without an order
  update events set salt = null where id = :e
[app: refused] an order to erase that says when it was given
  insert into erasure_orders (actor, reason, events, pages, ordered_at) values ('ana', 'x', 1, 1, now())
[app: refused] a reader of CPFs taken out of the log
  delete from cpf_reads
[superuser: verify] a reader of CPFs taken out of the log by the owner of the database
  delete from cpf_reads
[superuser: verify check] two events that swap their bodies and salts
  update events a set data = b.data, salt = b.salt from events b where a.id in (:e, :f) and b.id in (:e, :f) and a.id <> b.id
[superuser: verify check] another salt of a body
  update events set salt = sha256('x') where id = :e
[superuser: verify balance check] an event of another type
  update events set type = 'averbacao.concluida' where id = :e
[superuser: verify balance check] an event of another partner
  update events set partner_id = :q where id = :e
[superuser: verify check] another actor
  update events set actor = 'nobody' where id = :e
[superuser: verify check] another request
  update events set request_id = 'x' where id = :e
[superuser: verify check] another trace
  update events set traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' where id = :e
[superuser: verify check] another time of the event
  update events set occurred_at = occurred_at - interval '1 second' where id = :e
[superuser: verify balance check] a lower fan-out
  update events set fan_out = 0 where id = :e
[superuser: verify balance open] a fan-out of nothing, with its delivery and attempts removed
  update events set fan_out = 0 where id = :e; delete from attempts where delivery_id = :d; delete from deliveries where id = :d
[superuser: verify balance check] a delivered event that is passed off as history
  update events set imported = true where id = :e
[superuser: verify check] another version of the catalog
  update events set catalog_version = 9 where id = :e
[superuser: verify balance check] a snapshot that saw no webhook
  update events set seen = '1:1:' where id = :e
[superuser: verify check] another stream
  update events set stream = uuidv7() where id = :e
[superuser: verify check] another position
  update events set position = default where id = :e
[superuser: verify balance open] an event removed
  delete from events where id = :e
[superuser: verify open] an event removed, with all that was made of it
  delete from events where id = :e; delete from attempts where delivery_id = :d; delete from deliveries where id = :d
[superuser: balance] an event written beside append_event
  insert into events (stream, version, type, partner_id, data, occurred_at, actor)
  values (uuidv7(), 1, 'margem.falhou', :p, '{}', now(), 'x')
[superuser: verify] an event of another stream written into a seal's span
  insert into events (stream, version, type, partner_id, data, occurred_at, actor, tx, epoch)
  select uuidv7(), 1, 'webhook.teste', partner_id, '{}', now(), 'x', tx, epoch from events where id = :e
[core: nobody] an event that never happened, by the core's own way
  # Who may append states what happened. Its actor is sealed with it.
  select append_event(gen_random_uuid(), 0, 'margem.falhou', :p, ':payload', 'core')

[superuser: verify check] two deliveries that swap their events
  update deliveries set event_id = uuidv7() where id = :d; update deliveries set event_id = :e where id = :o;
  update deliveries set event_id = :f where id = :d
[superuser: verify check] a delivery that failed, and had arrived
  update deliveries set status = 'erro' where id = :d
[app: verify check] a delivery that arrived, and nobody sent it
  update deliveries set status = 'entregue', next_attempt_at = null, finished_at = now() where id = :x
[app: verify check] a delivery that failed, and nobody sent it
  update deliveries set status = 'erro', next_attempt_at = null, finished_at = now() where id = :x
[superuser: balance open] a delivery removed
  delete from deliveries where id = :x
[superuser: verify open] a delivery's other id
  update deliveries set id = uuidv7() where id = :d
[superuser: balance] a delivery to a webhook that had not asked for it
  insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at) values (:y, :v, :p, now())
[superuser: verify balance check] a delivery moved to another webhook
  update deliveries set webhook_id = :v where id = :d
[superuser: verify check] a delivery moved to another partner
  update deliveries set partner_id = :q where id = :d
[superuser: nobody] other times of a delivery
  # They are no evidence: the sealed event and attempts have the times that count.
  update deliveries set finished_at = finished_at - interval '1 day' where id = :d
[app: nobody] a delivery put off for a year
  # Nothing false is said. The queue's status and its alert show a delivery that waits too long.
  update deliveries set next_attempt_at = next_attempt_at + interval '1 year' where id = :x

[superuser: nobody] other counts of a delivery
  # They are the queue's own. Its next attempt would be number 10, and the evidence would say that attempt 3 is missing.
  update deliveries set attempts = 9, failures = 5 where id = :d
[app: nobody] a delivery that arrived, cancelled afterwards
  # The order is sealed with its author, and the evidence has it beside the success; who may order is believed.
  insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor) values ('cancelamento', :w, :p, array[:d::uuid], 'x');
  update deliveries set status = 'erro' where id = :d

[superuser: verify check] a seal's other root
  update seals set root = sha256('x') where number = 1
[superuser: verify check] a seal's other count
  update seals set rows = rows + 1 where number = 1
[superuser: verify check] a seal's other time
  update seals set sealed_at = sealed_at - interval '1 day' where number = 1
[superuser: sealer verify check] a seal's other leaf
  update seals set leaf = sha256('x') where number = 1
[superuser: sealer verify check] a seal that reaches too far
  update seals set end_tx = end_tx + 1000000 where number = (select max(number) from seals)
[superuser: sealer verify open] a seal taken out
  delete from seals where number = 2
[superuser: verify check] another leaf in what is kept beside a seal
  update seal_trees set leaves = sha256('x') || substring(leaves from 33) where number = 1
[superuser: verify check] another row, with its leaf in what is kept beside the seal
  update attempts set status_code = 204 where delivery_id = :d and number = 2; update seal_trees set leaves = sha256('x') || substring(leaves from 33)
[superuser: verify] other hashes above the leaves
  update seal_trees set nodes = sha256('x') where number = 1
[superuser: verify check] everything beside the seals removed
  delete from seal_trees
[superuser: sealer verify check] the last turn cut off
  delete from seals where number = 3; delete from seal_trees where number = 3
[superuser: head open] the last turn cut off, with its checkpoint
  delete from events where id = :y; delete from deliveries where event_id = :y; delete from seals where number = 3;
  delete from seal_trees where number = 3; delete from checkpoints where size = 3
[superuser: sealer verify open] everything changed and sealed anew
  update attempts set status_code = 204 where status_code = 200; truncate seals, seal_trees, seal_nodes
[superuser: head] everything changed, sealed and signed anew
  update attempts set status_code = 204 where status_code = 200; truncate seals, seal_trees, seal_nodes, checkpoints cascade
[superuser: sealer verify] a checkpoint's other root
  update checkpoints set root = sha256('x')
[superuser: verify check] a checkpoint's other text
  update checkpoints set note = replace(note, E'\\n3\\n', E'\\n4\\n')
[superuser: nobody] every checkpoint removed
  # Nothing false is said: the log is there, and the next turn signs its head.
  delete from checkpoints
[app: sealer verify] a seal that nobody made
  insert into seals select 4, end_epoch, end_tx, end_epoch, end_tx + 1000000, 1, root, null, sealed_at, leaf from seals where number = 3
[app: sealer verify check] a checkpoint that nobody signed
  insert into checkpoints (size, root, note) values (4, sha256('x'), 'x')

[superuser: nobody] another time at which a checkpoint was signed
  # The monitors alone read it. Seals and receipts have the times that count.
  update checkpoints set signed_at = signed_at - interval '1 year'
[superuser: nobody] the receipts of anchors removed
  # The place outside has its copy, and the next round asks for the newest one again.
  insert into anchor_receipts (size, kind, place, receipt) select size, 'arquivo', '/x', 'x' from checkpoints; delete from anchor_receipts
[superuser: nobody] a receipt that no place gave
  # audit check with the place's key is false for it (anchor.db.test.ts); without it the receipt proves nothing.
  insert into anchor_receipts (size, kind, place, receipt) select size, 'carimbo_de_tempo', 'https://tsa.example', 'x' from checkpoints
[app: nobody] a verdict that no run came to
  # What the database keeps is its owner's word. The nightly run reads all of it again, and the log of api tells its verdict, too.
  insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished) select 0, 3, 11, 3, root, 0, '[]', true from checkpoints where size = 3
[app: nobody] a place kept by a run that nobody made
  # --resume alone takes it, and no run of api does.
  insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished) select 0, 3, 11, 3, root, 0, '[]', false from checkpoints where size = 3
[app: nobody] another count in a kept day of the balance
  # A kept day says what was counted then. --anew and recontar=true count the rows.
  insert into balance_days (day, lines, differences, first_seal, last_seal, leaf)
  select to_char(now() at time zone 'America/Sao_Paulo' - interval '1 day', 'YYYY-MM-DD'), '[]', '[]', 1, number, leaf from seals order by number desc limit 1
[superuser: sealer] a log that names another server as its own
  update installation set system_identifier = 1
[superuser: nobody] an epoch that begins by itself
  # As after a promotion: the rows to come are of a later epoch, and are sealed there.
  update installation set epoch_base = epoch_base + 3, own_from = own_from + 3
[app: nobody] an act of an archive that nobody did
  # It is sealed with its author. verify asks for the files of a month as soon as a row of it is missing.
  insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor) values ('remocao_concluida', '2026-01', 1, 2, '/nowhere', sha256('x'), sha256('x'), 1, 'x')
[superuser: verify balance open] attempts removed under an act of an archive that has no files
  insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor) values ('remocao_concluida', '2026-01', 1, 2, '/nowhere', sha256('x'), sha256('x'), 1, 'x');
  delete from attempts where delivery_id = :d; delete from deliveries where id = :d
[app: verify check] an attempt brought back into a month that it was never removed from
  insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor) values ('remocao_concluida', '2026-01', 1, 2, '/nowhere', sha256('x'), sha256('x'), 1, 'x');
  select restore_archived('2026-01', '[]', (select json_agg(json_build_object('delivery_id', :x::uuid, 'number', 1, 'late', false,
    'event_id', event_id, 'webhook_id', webhook_id, 'partner_id', partner_id, 'outcome', outcome, 'status_code', status_code,
    'started_at', started_at, 'duration_ms', duration_ms, 'url', coalesce(url, 'x'), 'claim', claim, 'recorded_at', recorded_at, 'epoch', epoch,
    'tx', tx::text)) from attempts where delivery_id = :d))

[superuser: verify check] an attempt that arrived, of an epoch before the first
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, body_digest, epoch, tx)
  select :x, 1, :y, :w, :p, 'entregue', 200, now(), 1, 'https://x.example/', 'x/1', sha256(salt || body), -1, '1' from messages where event_id = :y
[superuser: verify check] an attempt that arrived, of a transaction that no server reaches
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, body_digest, tx)
  select :x, 1, :y, :w, :p, 'entregue', 200, now(), 1, 'https://x.example/', 'x/1', sha256(salt || body), '18446744073709551615' from messages where event_id = :y
[superuser: verify] an event outside every seal
  insert into events (stream, version, type, partner_id, data, occurred_at, actor, epoch, tx)
  values (uuidv7(), 1, 'margem.falhou', :p, ':payload', now(), 'x', -1, '1')
[superuser: verify balance check] an event outside every seal, with its delivery and a success
  with event as (insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, catalog_version, epoch, tx)
    values (uuidv7(), 1, 'margem.falhou', :p, ':payload', now(), 'x', 1, 1, -1, '1') returning id)
  update deliveries set event_id = event.id, status = 'entregue', next_attempt_at = null, finished_at = now() from event where deliveries.id = :x
[superuser: verify open] a delivery that arrived by an attempt outside every seal alone
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, body_digest, epoch, tx)
  select :x, 1, :y, :w, :p, 'entregue', 200, now(), 1, 'https://x.example/', 'x/1', sha256(salt || body), -1, '1' from messages where event_id = :y;
  update deliveries set status = 'entregue', next_attempt_at = null, finished_at = now() where id = :x
[superuser: refused] a read of CPFs outside every seal
  insert into cpf_reads (actor, operation, asked, tx) values ('ana', 'GET /', '/', '18446744073709551615')
[superuser: refused] an order outside every seal
  insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor, epoch) values ('reenvio', :w, :p, array[:o::uuid], 'x', -1)
[superuser: refused] an order to erase outside every seal
  insert into erasure_orders (id, actor, reason, events, pages, epoch) values (:x, 'x', 'x', 0, 0, -1)
[superuser: refused] a page of an order to erase outside every seal
  insert into erasure_pages (order_id, number, event_ids, remains, tx) values (:x, 1, array[:e::uuid], array[sha256('x')], '18446744073709551615')
[superuser: refused] a line of a partner's history outside every seal
  insert into partner_history (partner_id, name, active, signing, documents, issuance, change, actor, epoch)
  select partner_id, name, active, signing, documents, issuance, change, actor, -1 from partner_history where partner_id = :p limit 1
[superuser: refused] a line of a webhook's history outside every seal
  insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, tx)
  select webhook_id, partner_id, url, events, false, 'desativacao', 'x', '18446744073709551615' from webhook_history where webhook_id = :w
[superuser: refused] an act of an archive outside every seal
  insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor, epoch) values ('remocao_concluida', '2026-01', 1, 2, '/nowhere', sha256('x'), sha256('x'), 1, 'x', -1)
[superuser: refused] an order moved out of every seal
  update send_orders set epoch = -1
[superuser: verify] a read of CPFs outside every seal, with the CHECK taken away
  alter table cpf_reads drop constraint cpf_reads_place; insert into cpf_reads (actor, operation, asked, tx) values ('ana', 'GET /', '/', '18446744073709551615')
[superuser: verify] a deactivation outside every seal, with the CHECK taken away
  # It counts for nothing in the balance.
  alter table webhook_history drop constraint webhook_history_place;
  insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, epoch, tx)
  select webhook_id, partner_id, url, events, false, 'desativacao', 'x', -1, '1' from webhook_history where webhook_id = :w
[superuser: verify balance open] an event moved out of every seal
  update events set epoch = -1 where id = :e
[superuser: verify open] an attempt moved out of every seal
  update attempts set epoch = -1 where delivery_id = :d and number = 1
[superuser: verify open] an attempt of the first transaction that is no number with a sign
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, started_at, url, claim, tx)
  values (:x, 1, :y, :w, :p, 'desconhecido', now(), 'https://x.example/', 'x/1', '9223372036854775808')
[superuser: verify balance open] an event without an epoch
  alter table events alter column epoch drop not null; update events set epoch = null where id = :e
[superuser: verify] a read of CPFs without an epoch
  alter table cpf_reads alter column epoch drop not null; update cpf_reads set epoch = null
[superuser: verify balance] a registration moved out of every seal, with the CHECK taken away
  alter table webhook_history drop constraint webhook_history_place; update webhook_history set epoch = -1 where webhook_id = :w
[superuser: verify] a partner's line moved out of every seal, with the CHECK taken away
  alter table partner_history drop constraint partner_history_place; update partner_history set epoch = -1
[owner: named archive_acts] a CHECK of a row's place taken away
  alter table archive_acts drop constraint archive_acts_place
[owner: named send_orders] a CHECK of a row's place that checks nothing
  alter table send_orders drop constraint send_orders_place; alter table send_orders add constraint send_orders_place check (true)
[owner: nobody] the index of the sealer taken away
  # Nothing false is said: rows are then found by reading the tables.
  drop index cpf_reads_sealable
[superuser: verify] a read of CPFs that names no event any more
  update cpf_reads set events = '{}'
[superuser: verify] a read of CPFs that names another event
  update cpf_reads set events = array[:f::uuid]
[superuser: verify] a read of CPFs that becomes a file
  update cpf_reads set events = null
[app: refused] a read of CPFs that names another event, by the app
  update cpf_reads set events = array[:f::uuid]
[app: nobody] a read of CPFs that named no event from the start
  # The API states what it showed. Its database login is believed as its process is.
  insert into cpf_reads (actor, operation, asked, events) values ('ana', 'GET /v1/auditoria/eventos', '/', '{}')
[superuser: nobody] a worker's events taken out of the list by digest
  # The list is made again from the log (a new cursor); each read names its events, and those names are sealed.
  delete from worker_events
[app: refused] a verdict that was kept, taken away
  delete from verify_verdicts
[superuser: nobody] a verdict that was kept, changed
  # What the database keeps is its owner's word. A head that was kept outside needs no verdict.
  insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished) select 0, 3, 11, 3, root, 2, '[]', true from checkpoints where size = 3;
  update verify_verdicts set findings = 0
[owner: named auditoria_leituras_cpf] an auditor's view that leaves a reader out
  do $$ begin execute format('create or replace view carteiro_auditoria.leituras_cpf as %s where actor <> ''ana''',
    rtrim(pg_get_viewdef('carteiro_auditoria.leituras_cpf'), ';')); end $$
[owner: named auditoria_vereditos] an auditor's view that leaves bad verdicts out
  do $$ begin execute format('create or replace view carteiro_auditoria.vereditos as select * from (%s) v where confere',
    rtrim(pg_get_viewdef('carteiro_auditoria.vereditos'), ';')); end $$
[owner: named auditoria_trabalhadores] an auditor's view of workers that names no event
  create or replace view carteiro_auditoria.trabalhadores as select digest as resumo, event_id as evento_id, is_own as proprio from worker_events where false
[owner: named function erased(content json)] another erased, so that less is left than should be
  create or replace function erased(content json) returns json language sql immutable as 'select ''{}''::json'
[superuser: verify] an erased event with a key renamed, as its order says
  insert into erasure_orders (id, actor, reason, events, pages) values (:x, 'somebody', 'x', 1, 1);
  insert into erasure_pages (order_id, number, event_ids, remains)
  select :x, 1, array[id], array[sha256(convert_to(replace(erased(data)::text, '"erro"', '"outro"'), 'UTF8'))] from events where id = :e;
  update events set commitment = (select sha256(m.salt || m.body) from messages m where event_id = :e), salt = null, data = replace(erased(data)::text, '"erro"', '"outro"')::json where id = :e;
  update attempts set commitment = sha256(salt || convert_to(answer, 'UTF8')), answer = null, salt = null where delivery_id = :d and answer is not null
[superuser: verify] an erased event that lost all its keys, as its order says
  insert into erasure_orders (id, actor, reason, events, pages) values (:x, 'somebody', 'x', 1, 1);
  insert into erasure_pages (order_id, number, event_ids, remains) values (:x, 1, array[:e::uuid], array[sha256('{}')]);
  update events set commitment = (select sha256(m.salt || m.body) from messages m where event_id = :e), salt = null, data = '{}' where id = :e;
  update attempts set commitment = sha256(salt || convert_to(answer, 'UTF8')), answer = null, salt = null where delivery_id = :d and answer is not null
[superuser: verify check] two seals that swap what erasing would leave
  update seals s set remains = o.remains from seals o where (s.number, o.number) in ((1, 3), (3, 1))
[superuser: verify] an act of an archive with other deliveries, put into a seal's span
  insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor, tx)
  select 'remocao_concluida', '2026-01', 1, 2, '/nowhere', sha256('x'), sha256('x'), 1, 'x', tx from events where id = :e
[app: refused] an act of an archive with other deliveries, by the app
  update archive_acts set deliveries = sha256('y')

[owner: named function to_jsonb(event_types)] a function that captures the comparison of the catalog
  create function to_jsonb(event_types) returns jsonb language sql immutable as 'select ''{}''::jsonb';
  update event_types set kind = 'internal' where name = 'margem.falhou'
[owner: named function array_remove(text[], text)] a function that captures a removal from a list
  create function array_remove(text[], text) returns text[] language sql immutable as 'select ''{}''::text[]'
[owner: named function unnest(uuid[])] a function that captures the unfolding of ids
  create function unnest(uuid[]) returns setof uuid language sql immutable as 'select null::uuid where false'
[owner: named operator carteiro.=(uuid,text)] an operator that captures a comparison
  create function is_same(uuid, text) returns boolean language sql immutable as 'select true';
  create operator = (function = is_same, leftarg = uuid, rightarg = text)
[owner: named type carteiro.state] a type that the release does not make
  create type state as enum ('x')
[owner: named type carteiro.place] a domain that the release does not make
  create domain place as text check (value <> '')
[owner: verify] a cast that the release does not make
  create type state as enum ('x'); create function state_of(text) returns state language sql immutable as 'select ''x''::state';
  create cast (text as state) with function state_of(text)
[owner: named function carteiro.every_one(integer)] an aggregate that the release does not make
  create aggregate every_one(integer) (sfunc = int4pl, stype = integer, initcond = '0')
[owner: named carteiro.pending silent] a rule of a table that nobody judges
  create rule silent as on insert to pending do instead nothing
[owner: named carteiro.pending few] a row policy of a table that nobody judges
  create policy few on pending using (true)
[superuser: named type uuid] another form of a type on the wire
  create function other_send(uuid) returns bytea language internal immutable strict as 'uuid_send';
  update pg_type set typsend = 'other_send'::regproc where typname = 'uuid' and typnamespace = 'pg_catalog'::regnamespace

[superuser: verify balance] a webhook that was never active
  update webhook_history set active = false where webhook_id = :w
[superuser: verify balance] a webhook that was never subscribed
  update webhook_history set events = '{averbacao.concluida}' where webhook_id = :w
[superuser: verify] a webhook's other URL in its history
  update webhook_history set url = 'https://other.example/' where webhook_id = :w
[superuser: verify] another author of a change
  update webhook_history set actor = 'nobody' where webhook_id = :w
[superuser: verify balance] a line of a webhook's history removed
  delete from webhook_history where webhook_id = :w
[superuser: verify balance] a deactivation written into the past
  insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, tx, epoch)
  select webhook_id, partner_id, url, events, false, 'desativacao', 'x', tx, epoch from webhook_history where webhook_id = :w
[superuser: verify] another author of a partner's change
  update partner_history set actor = 'nobody'
[superuser: verify] a line of a partner's history removed
  delete from partner_history
[superuser: verify] a partner renamed without a line of history
  set session_replication_role = replica; update partners set name = 'Outro'
[superuser: verify] a partner removed, whose history is there
  set session_replication_role = replica; delete from partners where id = :p
[superuser: verify] a webhook removed, whose history is there
  set session_replication_role = replica; delete from webhooks where id = :v
[superuser: nobody] a webhook that nobody registered
  # The first event that it is sent is in surplus in the balance.
  set session_replication_role = replica; insert into webhooks (id, partner_id, url, events, encrypted_secret)
  select uuidv7(), partner_id, 'https://other.example/', '{averbacao.falhou}', encrypted_secret from webhooks where id = :w
[superuser: nobody] a webhook's other secret
  # It is no evidence. A poller opens no secret of another key or webhook, and the receiver refuses what is signed with another.
  update webhooks set encrypted_secret = 'x' where id = :w
[app: verify] a webhook's other URL without a line of history
  update webhooks set url = 'https://other.example/' where id = :w
[app: verify] a webhook deactivated without a line of history
  update webhooks set active = false where id = :w
[app: verify] a webhook muted without a line of history
  update lanes set muted_at = now() where webhook_id = :w
[superuser: verify check] another author of a resend
  update send_orders set actor = 'nobody'
[superuser: verify check] another reason of a resend
  update send_orders set reason = 'x'
[superuser: verify check] a resend of another delivery
  update send_orders set delivery_ids = array[:x::uuid]
[superuser: verify] a resend removed
  delete from send_orders
[app: nobody] a resend in somebody else's name
  # The API states who asked. Its database login is believed as its process is.
  insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor) values ('reenvio', :w, :p, array[:x::uuid], 'somebody')

[superuser: verify balance open] another catalog, so that an event without its delivery counts as none
  delete from deliveries where id = :x; update event_types set kind = 'internal' where name = 'margem.falhou'
[superuser: verify] another sha256 in the place of the server's own
  alter function pg_catalog.sha256(bytea) rename to sha256_true;
  create function pg_catalog.sha256(bytea) returns bytea language sql immutable strict as 'select sha256_true($1)'
[superuser: named auditoria_historico_parceiros] an auditor's view that reads no table
  create or replace view carteiro_auditoria.historico_parceiros as select * from carteiro_auditoria.historico_parceiros where false
[superuser: named auditoria_tentativas] an auditor's view that leaves failures out
  do $$ begin execute format('create or replace view carteiro_auditoria.tentativas as %s where outcome = ''entregue''',
    rtrim(pg_get_viewdef('carteiro_auditoria.tentativas'), ';')); end $$
[superuser: verify check] attempts in a child table, where they are seen with the others
  create table more () inherits (attempts);
  insert into more (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim, tx)
  select :x, 1, webhook_id, partner_id, 'desconhecido', started_at, url, claim, tx from attempts where delivery_id = :d and number = 1
[superuser: verify check] a view that hides attempts, with the name of the table
  alter table attempts rename to hidden; create view attempts as select * from hidden where delivery_id <> :d
[superuser: verify] a table that was changed, under a view over a copy that was not
  create table hidden as table attempts; alter table attempts rename to shown;
  create view attempts as select * from hidden; update shown set status_code = 204 where status_code = 200
[superuser: verify] a table that was changed, beside a copy that was not and has its name
  alter table attempts rename to shown; create table attempts (like shown including all); insert into attempts
  (delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, target, url, address, key_id, claim, error, answer, body_digest, salt, commitment, recorded_at, epoch, tx)
  select delivery_id, number, late, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, target, url, address, key_id, claim, error, answer, body_digest, salt, commitment, recorded_at, epoch, tx from shown;
  update shown set status_code = 204 where status_code = 200
[owner: named attempts] a row policy that hides attempts from the auditor
  alter table attempts enable row level security
[owner: named carteiro.attempts silent] a rule by which attempts are not recorded
  create rule silent as on insert to attempts do instead nothing
[owner: named webhooks] a trigger switched off
  alter table webhooks disable trigger webhooks_have_lanes
[owner: verify check] a change by the owner of the tables
  update attempts set status_code = 204 where delivery_id = :d and number = 2
[owner: verify check] a removal by the owner of the tables, whose triggers are off
  alter table attempts disable trigger user; delete from attempts where delivery_id = :d
[owner: refused] triggers and constraints switched off for a session
  set session_replication_role = replica
[app: refused] an attempt changed
  update attempts set status_code = 204
[app: refused] a place in the log chosen
  insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim, tx)
  select delivery_id, 9, webhook_id, partner_id, 'desconhecido', now(), url, claim, tx from attempts
[app: refused] an event removed
  delete from events
[app: refused] a delivery of another event
  update deliveries set event_id = :f where id = :d
[app: refused] a log cut off
  truncate seals, seal_trees, seal_nodes, checkpoints
[app: refused] a seal made anew
  update seals set root = sha256('x')
[app: refused] a history rewritten
  update webhook_history set active = false
[app: refused] a table exchanged
  alter table attempts rename to hidden
[poller: refused] an event without append_event
  insert into events (stream, version, type, partner_id, data, occurred_at, actor) values (uuidv7(), 1, 'margem.falhou', :p, '{}', now(), 'x')
[poller: refused] an author of a resend exchanged
  update send_orders set actor = 'nobody'
[core: refused] a look at attempts
  select from attempts
[auditor: refused] a change through a view
  update carteiro_auditoria.tentativas set resultado = 'entregue'

[file: check] another body
  {"corpo": "{}"}
[file: check] no event
  {"evento": null}
[file: check] no attempts
  {"tentativas": []}
[file: check] no seals
  {"selos": []}
[file: check] another status
  {"entrega.status": "erro"}
[file: check] another body without its salt
  {"corpo": "{}", "sal": null}
[file: open] another body in a file that calls itself masked
  {"corpo": "{}", "retido": "x"}
[file: check] no seal at the event, and another body
  {"corpo": "{}", "evento.selo": null}
[file: check] no seal at the event, beside its way there
  {"evento.selo": null}
[file: check] no checkpoint
  {"checkpoint": null}
`;

/** In the place of `:order`: one to erase the event `:e`. `:work` has it worked on. */
const ORDER = `
  insert into erasure_orders (id, actor, reason, events, pages) values (:x, 'somebody', 'x', 1, 1);
  insert into erasure_pages (order_id, number, event_ids, remains)
  select :x, 1, array[id], array[sha256(convert_to(erased(data)::text, 'UTF8'))] from events where id = :e`;

interface Falsification {
  readonly name: string;
  readonly rights: string;
  readonly finders: string;
  readonly change: string;
}

const FALSIFICATIONS = TABLE.split(/^(?=\[)/m).flatMap((text): Falsification[] => {
  const [, rights, finders, what, body] = /^\[(\w+): ((?:named .+)|[\w ]+)\] (.+)\n([^]+)/.exec(text) ?? [];
  if (rights === undefined || finders === undefined || body === undefined) return [];
  const change = body.replace(/^ *#.*\n/gm, '').trim();
  if (finders === 'nobody' && !/^ *# /m.test(body)) throw new Error(`${what}: say why nobody finds it`);
  return [{ name: `${what}, by ${rights}: ${finders}`, rights, finders, change }];
});
const ids = new Map<string, string>();

/** Three turns of the sealer: two deliveries fail; they are ordered again and arrive; a third is appended. */
const world = await createTestDatabase();
const { sql, pool } = world;
const receiver = await startReceiver();
const engine = startEngine(pool);
const [partner, stranger] = [await insertPartner(sql), await insertPartner(sql)];
await sql`select set_config('carteiro.actor', 'test', false)`;
await sql`update partners set name = 'Parceiro' where id = ${partner}`;
const { id: webhook } = await insertWebhook(sql, partner, receiver.url, ['margem.falhou']);
const { id: other } = await insertWebhook(sql, partner, receiver.url, ['averbacao.concluida']);
await sql`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
            select id, partner_id, url, events, active, 'test' from webhooks`;
const sealed = async () => {
  await untilSettled(sql);
  await sealAndSign(pool);
};
receiver.answerWith((_, response) => response.writeHead(500).end('não'));
await commitMarginEvents(sql, partner, 2);
await engine.poll();
await sealed();
receiver.answerWith(status(200));
advance(engine, 120);
await sql`insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
            select 'reenvio', webhook_id, partner_id, array[id], 'test' from deliveries order by id limit 1`;
await sql`insert into cpf_reads (actor, operation, asked, events)
            select 'ana', 'GET /v1/auditoria/tentativas', '/', array_agg(id order by id) from events`;
await engine.poll();
await sealed();
await commitMarginEvents(sql, partner, 1);
await sealed();
const head: TreeHead = (await pool.run((tx) => readTreeHead(tx))) as TreeHead;
const deliveries = await sql<{ id: string; event: string }[]>`
    select id, event_id as event from deliveries order by id`;
const names = ['d', 'e', 'o', 'f', 'x', 'y'];
for (const [index, id] of deliveries.flatMap((row) => [row.id, row.event]).entries()) ids.set(names[index] ?? '', id);
for (const [name, id] of Object.entries({ w: webhook, v: other, p: partner, q: stranger })) ids.set(name, id);
await engine.close();
await receiver.close();
await Promise.all([pool.close(1), sql.end({ timeout: 1 })]);

const NAMED = 'named ';
const [together, alone] = [true, false].map((isNamed) =>
  FALSIFICATIONS.filter(({ finders }) => finders.startsWith(NAMED) === isNamed),
) as [Falsification[], Falsification[]];

/** For what leaves it as it is: a change that is refused, or of a file. */
const unchanged = await createTestDatabase(world.url);

test.each(alone)('$name', async ({ rights, finders, change }) => {
  const isUnchanged = rights === 'file' || finders === 'refused';
  const database = isUnchanged ? unchanged : await createTestDatabase(world.url);
  const found = rights === 'file' ? await findInFile(database.pool, change) : await findIn(database, rights, change);
  expect(found).toBe(finders);
});

describe('changes that one run judges', async () => {
  const { sql, url } = await createTestDatabase(world.url);
  for (const { rights, change } of together) await make(sql, rights, change);
  const { findings } = await verifySeals(openPool(url, { max: 2 }), {
    keys: [SIGNER],
    installation: DEFAULT_INSTALLATION,
  });
  const named = findings.map(({ tabela }) => `${NAMED}${tabela}`);

  test.each(together)('$name', ({ finders }) => expect(named).toContain(finders));
});

/** Throws what the server refuses. */
async function make(sql: TestDatabase['sql'], rights: string, change: string): Promise<void> {
  const statement = change
    .replace(':payload', FAILED_MARGIN)
    .replace(':order', ORDER)
    .replace(':work', `insert into erasures (order_id, cpf) values (:x, '52998224725')`)
    .replace(/(?<!:):([a-z])\b/g, (_, name: string) => `'${ids.get(name) ?? ''}'`);
  const role = rights === 'superuser' ? '' : `set local role carteiro_${rights};`;
  await sql.begin((tx) => tx.unsafe(`${role} ${statement}`).simple());
}

/** Makes the change, and asks everybody. */
async function findIn({ url, sql }: TestDatabase, rights: string, change: string): Promise<string> {
  // Each session of a new database reads its catalog anew.
  const pool = openPool(url, { max: 2 });
  try {
    await make(sql, rights, change);
  } catch (error) {
    if (['42501', '23514'].includes((error as { code?: string }).code ?? '')) return 'refused';
    throw error;
  }
  await untilSettled(sql);
  const isSealed = await sealAndSign(pool).then(
    () => true,
    () => false,
  );
  // Only such a change can alter what the release has made; the comparison takes as long as all the rest.
  const own = /\b(alter|create|grant|event_types)\b/.test(change) ? { installation: DEFAULT_INSTALLATION } : {};
  const { findings } = await verifySeals(pool, { keys: [SIGNER], ...own });
  const isOnlyBesideHead =
    findings.length === 0 && (await verifySeals(pool, { keys: [SIGNER], heads: [head], ...own })).findings.length > 0;
  const today = dayOf(new Date());
  const [from, to] = [addDays(today, -1), addDays(today, 1)];
  const balance = await addUp(readBalance(pool, from, to), from, to, 10);
  const fits: (boolean | null)[] = [];
  for (const delivery of ['d', 'x']) {
    const proof = await readProof(pool, ids.get(delivery) ?? '');
    const checked = proof === null ? null : checkProof(JSON.stringify(proof), TRUSTED);
    // Of one that is still to be sent all is right, and no attempt names it yet.
    fits.push(checked?.reason?.startsWith('entrega.id') === true || (checked?.fits ?? null));
  }
  const found = {
    sealer: !isSealed,
    verify: findings.length > 0,
    head: isOnlyBesideHead,
    balance: balance.total_diferencas > 0,
    check: fits.includes(false),
    open: !fits.includes(false) && fits.includes(null),
  };
  const finders = Object.entries(found).flatMap(([finder, isFound]) => (isFound ? [finder] : []));
  return finders.join(' ') || 'nobody';
}

/** Sets the members of a delivery's evidence that the change names, and checks the file. */
async function findInFile(pool: Pool, change: string): Promise<string> {
  const proof = (await readProof(pool, ids.get('d') ?? '')) as unknown as Record<string, Record<string, unknown>>;
  for (const [path, value] of Object.entries(JSON.parse(change) as Record<string, unknown>)) {
    const [member = '', inner] = path.split('.');
    if (inner === undefined) Object.assign(proof, { [member]: value });
    else Object.assign(proof[member] ?? {}, { [inner]: value });
  }
  const { fits } = checkProof(JSON.stringify(proof), TRUSTED);
  return fits === null ? 'open' : fits ? 'nobody' : 'check';
}
