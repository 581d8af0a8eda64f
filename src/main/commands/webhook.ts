import { TIMES_S } from '../../contract/delivery.ts';
import { MAX_CAP } from '../../contract/resources/operator.ts';
import { actorOf } from '../../admin/author.ts';
import { countText, readBounded } from '../../admin/bounds.ts';
import { cutText, listFailing, withFailures } from '../../admin/failures.ts';
import { untilLanded } from '../../admin/off-boarding.ts';
import { isPartner } from '../../admin/partners.ts';
import { countDeliveries, listWebhooks, readWebhook, type WebhookLine } from '../../admin/webhooks.ts';
import { capWebhook, muteWebhook, unmuteWebhook } from '../../webhooks/muting.ts';
import { readInteger, readUuid } from '../arguments.ts';
import { choice, command, option, UsageError, type Group } from '../command.ts';
import { author, before, json, paging, reason, operate, operateBounded, printResult, printMore } from '../operator.ts';
import { orMissing, orRefuse } from '../refused.ts';
import { table } from '../table.ts';

const list = command({
  summary: 'list webhooks, the oldest first; with --state failing the worst first',
  options: {
    partner: option('--partner <id>', 'only those of this partner', readUuid),
    state: choice('--state <state>', 'only those in this state', ['muted', 'inactive', 'failing', 'falhando'] as const),
    ...paging,
    json,
  },
  help: `
failing: an attempt failed in the last hour. falhando: it has failed for hours, by the policy. inactive: the webhook or its
partner was deactivated. Query strings of URLs are masked, because they carry tokens. The list comes in pages: when there is
more, a line on standard error says with which --after it goes on. --state failing has one page, of the worst.
Failures are counted of the newest 10,000 of each kind. Where there were more, a line on standard error says so, and a webhook
may have failed more often than it says, or be missing among the failing ones. --partner then looks at the newest 10,000
attempts of that partner, too.

Output: a table; with --json [{"id": "0199…", "partnerId": "0199…", "partner": "Um", "url": "https://…", "events": […],
"active": true, "cap": 64, "silent": false, "mutedAt": null, "failingSince": null, "failedLastHour": 0}]. A silent one left
its last attempt without an answer, and gets one delivery at a time until it answers. One with failingSince is falhando by the
policy ENDPOINT_FAILING_AFTER, and gets one delivery at a time until it answers well.`,
  exits: { done: 'they were listed, or there is none', refused: 'there is no such partner' },
  async run({ partner, state, after, limit, json }, line) {
    if (state === 'failing' && after !== undefined)
      throw new UsageError('--state failing has one page: leave out --after');
    const page = await operateBounded(line, async (sql) => {
      if (partner !== undefined) orMissing((await isPartner(sql, partner)) || null, 'partner', partner);
      if (state === 'failing') return { ...(await listFailing(sql, partner, limit)), next: null };
      const { rows, next } = await listWebhooks(sql, { partnerId: partner, state }, { after: after ?? null, limit });
      return { ...(await withFailures(sql, rows, partner)), next };
    });
    const rows = page.rows.map((row) => {
      const { id, cap, failedLastHour: failed_1h, partner, url } = row;
      return { id, state: stateOf(row), cap, failed_1h, partner, url };
    });
    const none = page.next === null ? 'no webhook fits' : 'no webhook of this page fits';
    const text = rows.length === 0 ? none : table(rows);
    printResult(line, json, page.rows, text);
    const filter = `${partner === undefined ? '' : ` --partner ${partner}`}${state === undefined ? '' : ` --state ${state}`}`;
    if (page.isCut) process.stderr.write(`${cutText(partner)}\n`);
    printMore(page.next, (id) => `webhook list${filter} --after ${id}`);
  },
});

function stateOf({ active, silent, mutedAt, failingSince }: WebhookLine): string {
  // Both, because unmuting an inactive one sends nothing.
  if (mutedAt !== null) return active ? 'muted' : 'inactive, muted';
  if (!active) return 'inactive';
  if (failingSince !== null) return 'falhando';
  return silent ? 'silent' : 'active';
}

const show = command({
  summary: 'show a webhook: its state, what waits for it, and its history',
  takes: { webhook: { about: 'its id', read: readUuid } },
  options: { before, json },
  help: `
Each state counts up to 10,000 deliveries (10000+, or 10001 with --json, stand for more), and in flight is counted among the
pending ones that are due first. The history has the newest 100 lines; --before N shows the ones before line N, and a line on
standard error says with which N it goes on. Failures are counted of the newest 10,000 of each kind and, where there were more,
of the newest 10,000 attempts of the partner. Where that is not all, the text says "at least", and a line on standard error says
so too.

Output: text; with --json what webhook list shows, "deliveries": {"pending": 17, "inFlight": 2, "suspended": 0, "failed": 1,
"oldestDueS": 4.2} and "history": [{"position": "12", "changedAt": "2026-…", "change": "silenciamento", "actor": "operador:ana", "reason": "…",
"active": true}], the newest line first.`,
  exits: { done: 'it was shown', refused: 'there is no such webhook' },
  async run({ webhook: id, before = null, json }, line) {
    const shown = await operateBounded(line, async (sql) => {
      const webhook = await readWebhook(sql, id, before);
      if (webhook === null) return null;
      const { rows, isCut } = await withFailures(sql, [webhook], webhook.partnerId);
      return { webhook: { ...webhook, failedLastHour: rows[0]?.failedLastHour ?? 0 }, isCut };
    });
    const found = orMissing(shown, 'webhook', id);
    const { partner, partnerId, url, events, active, cap, silent, mutedAt, failingSince, failedLastHour } =
      found.webhook;
    const { deliveries, history, olderThan } = found.webhook;
    const { pending, inFlight, suspended, failed, oldestDueS } = deliveries;
    const muted = mutedAt === null ? '' : `muted since ${mutedAt.toISOString()}`;
    const state = [...(active ? [] : ['inactive']), ...(muted === '' ? [] : [muted])].join(', ') || 'active';
    const falhando =
      failingSince === null ? '' : `, falhando since ${failingSince.toISOString()}: one at a time probes it`;
    const lines = [
      `${url}, ${state}${falhando}`,
      `partner ${partner} (${partnerId}), cap ${cap}${silent ? ', one at a time until it answers' : ''}`,
      `events ${events.join(' ')}`,
      `${countText(pending)} pending, ${inFlight} of them in flight${oldestDueS === null ? '' : `, the oldest due for ${Math.round(oldestDueS)} s`}`,
      `${countText(suspended)} suspensa, ${countText(failed)} erro, ${found.isCut ? 'at least ' : ''}${failedLastHour} attempts failed in the last hour`,
      table(history, ['changedAt', 'change', 'actor', 'reason']),
    ];
    printResult(line, json, found.webhook, lines.join('\n'));
    if (found.isCut) process.stderr.write(`${cutText(partnerId)}\n`);
    printMore(olderThan, (line) => `webhook show ${id} --before ${line}`);
  },
});

const mute = command({
  summary: 'stop sending to a webhook; what is for it waits, and nothing is lost',
  takes: { webhook: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
From the commit on nothing of the webhook is claimed, and what is appended for it waits as pendente, as the balance counts
it. No schedule runs meanwhile: no slot is spent. The command then waits for the POSTs that were under way, ${TIMES_S.lease} s at most:
when it has left, not one POST follows until webhook unmute. A test that the partner asks for waits, too.

Output: what waits; with --json {"webhook": "0199…", "muted": true, "pending": 17, "wereInFlight": 2}, where
10001 pending stands for more`,
  exits: {
    done: 'it is muted, and nothing of it is in flight',
    refused: 'there is no such webhook, or it is muted or inactive',
  },
  async run({ webhook, reason = null, author, json }, line) {
    const done = await operate(line, async (pool, { progress }) => {
      const operator = { actor: actorOf(author), reason };
      orRefuse(await pool.transaction((tx) => muteWebhook(tx, webhook, operator)), 'webhook', webhook);
      const wereInFlight = await untilLanded(pool, [webhook], (sentence) => progress.show(sentence));
      const { pending } = await readBounded(pool, (sql) => countDeliveries(sql, webhook));
      return { pending, wereInFlight };
    });
    const text = `muted; ${countText(done.pending)} deliveries wait, ${done.wereInFlight} were in flight and have ended`;
    printResult(line, json, { webhook, muted: true, ...done }, text);
  },
});

const unmute = command({
  summary: 'send to a muted webhook again: what waited is due at once, within its cap',
  takes: { webhook: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
Wakes the webhook's lane: the next claim finds all that waited, the oldest first.

Output: what is pending; with --json {"webhook": "0199…", "muted": false, "pending": 17}, where 10001
stands for more`,
  exits: { done: 'it is sent to again', refused: 'there is no such webhook, or it is not muted' },
  async run({ webhook, reason = null, author, json }, line) {
    const pending = await operate(line, async (pool) => {
      const operator = { actor: actorOf(author), reason };
      orRefuse(await pool.transaction((tx) => unmuteWebhook(tx, webhook, operator)), 'webhook', webhook);
      return (await readBounded(pool, (sql) => countDeliveries(sql, webhook))).pending;
    });
    printResult(
      line,
      json,
      { webhook, muted: false, pending },
      `unmuted; ${countText(pending)} deliveries are pending`,
    );
  },
});

const cap = command({
  summary: "set the most of a webhook's deliveries that may be in flight at once, over all pollers (64 unless set)",
  takes: {
    webhook: { about: 'its id', read: readUuid },
    number: { about: `1 to ${MAX_CAP}`, read: readInteger(1, MAX_CAP) },
  },
  options: { reason, author, json },
  help: `
Takes effect with the next claim. What is in flight above a lowered cap ends by itself. A webhook whose last attempt had no
answer gets one at a time until it answers, whatever its cap. A cap that changes leaves a line in the webhook's history
(limite), which webhook show and the page show.

Output: a sentence; with --json {"webhook": "0199…", "cap": 3}`,
  exits: { done: 'the cap is set', refused: 'there is no such webhook' },
  async run({ webhook, number, reason = null, author, json }, line) {
    const operator = { actor: actorOf(author), reason };
    orRefuse(
      await operate(line, (pool) => pool.transaction((tx) => capWebhook(tx, webhook, number, operator))),
      'webhook',
      webhook,
    );
    printResult(line, json, { webhook, cap: number }, `at most ${number} of its deliveries are in flight at once`);
  },
});

export const webhook: Group = {
  about: 'webhooks: read, mute, cap',
  commands: { list, show, mute, unmute, cap },
};
