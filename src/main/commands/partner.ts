import { TIMES_S } from '../../contract/delivery.ts';
import { DOCUMENT_MODES, ISSUANCE_MODES, SIGNING_MODES } from '../../contract/statuses.ts';
import type { Pool } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import { actorOf } from '../../admin/author.ts';
import { deactivatePartner, reactivatePartner, untilGone } from '../../admin/off-boarding.ts';
import {
  changePartner,
  createPartner,
  listPartners,
  lockPartner,
  readPartner,
  WEBHOOKS_COUNTED,
} from '../../admin/partners.ts';
import { listWebhooks } from '../../admin/webhooks.ts';
import { readUuid } from '../arguments.ts';
import { choice, choiceOr, command, flag, option, Refusal, required, UsageError, type Group } from '../command.ts';
import {
  author,
  before,
  json,
  paging,
  readHistoryLine,
  reason,
  operate,
  operateBounded,
  printResult,
  printMore,
} from '../operator.ts';
import { orMissing, orRefuse } from '../refused.ts';
import { table } from '../table.ts';

const create = command({
  summary: 'create a partner and print it as JSON; the first choice of each option is the default',
  options: {
    name: required('--name <name>', 'the name, for people; no CPF', readHistoryLine),
    id: option('--id <uuid>', 'the id that the core has for it; without it a new one', readUuid),
    signing: choiceOr('--signing <mode>', 'who signs', SIGNING_MODES),
    documents: choiceOr('--documents <mode>', 'how documents come', DOCUMENT_MODES),
    issuance: choiceOr('--issuance <mode>', 'how loans are issued', ISSUANCE_MODES),
    author,
    json: flag('--json', 'taken as by the other commands; this one prints JSON in any case'),
  },
  help: `
The account says who signs, how the documents of a loan come, and whether issuance answers at once. Its history begins
with this command. Bring a core's partners in with their own --id: a rehearsal's file of history then serves production
unchanged. Needs the rights of carteiro_app.

Output: {"id": "0199…", "name": "Um", "signing": "internal", "documents": "agrupada", "issuance": "sincrona"}`,
  exits: { done: 'the partner exists', refused: 'there is a partner of this id already' },
  async run({ name, id = null, signing, documents, issuance, author }, line) {
    const account = { name, signing, documents, issuance };
    const work = (pool: Pool) =>
      pool.transaction((tx) => createPartner(tx, account, actorOf(author), id)).catch(refuseTaken);
    const made = await operate(line, work);
    line.print(JSON.stringify({ id: made.id, ...account }));
  },
});

function refuseTaken(error: unknown): never {
  if (codeOf(error) !== '23505') throw error;
  throw new Refusal('--id: there is a partner of this id already; partner show prints it', { cause: error });
}

const list = command({
  summary: 'list partners, the oldest first',
  options: { inactive: flag('--inactive', 'only those that were deactivated'), ...paging, json },
  help: `
Output: a table; with --json [{"id": "0199…", "name": "Um", "active": true, "signing": "internal", "documents": "agrupada",
"issuance": "sincrona", "createdAt": "2026-…", "webhooks": 2}], webhooks being the active ones, 1001 standing for more than 1,000. The list comes in pages: when there is more,
a line on standard error says with which --after it goes on.`,
  exits: { done: 'they were listed, or there is none' },
  async run({ inactive, after, limit, json }, line) {
    const page = await operateBounded(line, (sql) => listPartners(sql, inactive, { after: after ?? null, limit }));
    const rows = page.rows.map(({ id, name, active, webhooks: count, signing, documents, issuance }) => {
      const webhooks = count > WEBHOOKS_COUNTED ? `${WEBHOOKS_COUNTED}+` : count;
      return { id, active, webhooks, signing, documents, issuance, name };
    });
    const none = inactive ? 'no partner is inactive' : 'there is no partner: partner create makes one';
    const text = rows.length === 0 ? none : table(rows);
    printResult(line, json, page.rows, text);
    printMore(page.next, (id) => `partner list${inactive ? ' --inactive' : ''} --after ${id}`);
  },
});

const show = command({
  summary: "show a partner: its account, its webhooks, and its account's history",
  takes: { partner: { about: 'its id', read: readUuid } },
  options: { before, json },
  help: `
Output: text; with --json {"id": "0199…", "name": "Um", "active": true, …, "webhooks": [as webhook list, without failedLastHour],
"history": [{"changedAt": "2026-…", "change": "desativacao", "actor": "operador:ana", "reason": "…", "name": "Um", …}]}, the
newest line first. Of the webhooks 100 are shown; moreAfter says that there are more (webhook list --partner ID --after …). The history
has the newest 100 lines; --before N shows the ones before line N, and a line on standard error says with which N it goes on.`,
  exits: { done: 'it was shown', refused: 'there is no such partner' },
  async run({ partner: id, before = null, json }, line) {
    const shown = await operateBounded(line, async (sql) => {
      const partner = await readPartner(sql, id, before);
      const { rows: webhooks, next: moreAfter } = await listWebhooks(sql, { partnerId: id });
      return partner && { ...partner, webhooks, moreAfter };
    });
    const found = orMissing(shown, 'partner', id);
    const { webhooks, moreAfter, history, name, active, signing, documents, issuance } = found;
    const lines = [
      `${name} (${id}), ${active ? 'active' : 'inactive'}`,
      `signing ${signing}, documents ${documents}, issuance ${issuance}`,
      `${webhooks.length}${moreAfter === null ? '' : '+'} webhooks: webhook list --partner ${id}`,
      ...(history.length === 0 ? [] : [table(history, ['changedAt', 'change', 'actor', 'reason'])]),
    ];
    printResult(line, json, found, lines.join('\n'));
    printMore(found.olderThan, (line) => `partner show ${id} --before ${line}`);
  },
});

const set = command({
  summary: "change a partner's name or account",
  takes: { partner: { about: 'its id', read: readUuid } },
  options: {
    name: option('--name <name>', 'the name, for people; no CPF', readHistoryLine),
    signing: choice('--signing <mode>', 'who signs', SIGNING_MODES),
    documents: choice('--documents <mode>', 'how documents come', DOCUMENT_MODES),
    issuance: choice('--issuance <mode>', 'how loans are issued', ISSUANCE_MODES),
    reason,
    author,
    json,
  },
  help: `
What is left out stays. Loans that exist keep what they were issued under. Each change leaves a line of history with its
author. Needs the rights of carteiro_app.

Output: what the account is now; with --json {"id": "0199…", "name": "Um", "active": true, "signing": "externa", …}`,
  exits: { done: 'the account is as asked for', refused: 'there is no such partner; nothing was changed' },
  async run({ partner: id, reason = null, author, json, ...change }, line) {
    if (Object.values(change).every((value) => value === undefined))
      throw new UsageError('give at least one of --name, --signing, --documents and --issuance');
    const changed = await operate(line, (pool) =>
      pool.transaction(async (tx) => {
        orMissing(await lockPartner(tx, id), 'partner', id);
        return changePartner(tx, id, change, { actor: actorOf(author), reason });
      }),
    );
    const { name, signing, documents, issuance } = changed;
    printResult(line, json, changed, `${name}: signing ${signing}, documents ${documents}, issuance ${issuance}`);
  },
});

const deactivate = command({
  summary: 'off-board a partner: its tokens end, and nothing more is sent to it',
  takes: { partner: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
In one transaction the partner becomes inactive, up to 10,000 of its pending deliveries become suspensa, and a line of history
says who did it. From that commit on its tokens are refused, and nothing of it is claimed or appended. The command then
suspends what is left of a larger partner, 1,000 in a transaction, and waits for the POSTs that were under way, ${TIMES_S.lease} s at most:
when it has left, not one POST follows. A failure of those becomes suspensa, too. Interrupted, the partner stays inactive, and
the pollers suspend the rest. partner reactivate undoes it.

Output: what was suspended; with --json {"id": "0199…", "active": false, "suspended": 17, "wereInFlight": 2}, suspended being
all that is suspensa of it now.`,
  exits: {
    done: 'it is inactive, and nothing of it is in flight',
    refused: 'there is no such partner, or it is inactive',
  },
  async run({ partner: id, reason = null, author, json }, line) {
    const operator = { actor: actorOf(author), reason };
    const done = await operate(line, async (pool, { progress }) => {
      orRefuse(await pool.transaction((tx) => deactivatePartner(tx, id, operator)), 'partner', id);
      return untilGone(pool, id, (sentence) => progress.show(sentence));
    });
    const { suspended, wereInFlight } = done;
    const text = `inactive; ${suspended} deliveries are suspensa, ${wereInFlight} were in flight and have ended`;
    printResult(line, json, { id, active: false, ...done }, text);
  },
});

const reactivate = command({
  summary: 'let a partner back in: its tokens are accepted, and it is sent what is new',
  takes: { partner: { about: 'its id', read: readUuid } },
  options: { reason, author, json },
  help: `
What the deactivation has left pending is suspended first. What was suspended stays so: the partner resumes it, webhook by webhook, with PATCH /v1/webhooks/{id}
{"ativo": true, "retomar": true}, or the operator sends one with delivery resend. What happened while it was inactive made no
deliveries. Needs the rights of carteiro_owner.

Output: what is suspended; with --json {"id": "0199…", "active": true, "suspended": 17}`,
  exits: { done: 'it is active', refused: 'there is no such partner, or it is active' },
  async run({ partner: id, reason = null, author, json }, line) {
    const operator = { actor: actorOf(author), reason };
    const work = (pool: Pool) => reactivatePartner(pool, id, operator);
    const { suspended } = orRefuse(await operate(line, work, { needs: 'owner' }), 'partner', id);
    printResult(
      line,
      json,
      { id, active: true, suspended },
      `active; ${suspended} deliveries stay suspensa until resumed`,
    );
  },
});

export const partner: Group = {
  about: 'partners: make, read, change, let go',
  commands: { create, list, show, set, deactivate, reactivate },
};
