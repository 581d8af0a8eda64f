/**
 * Every change of any leaf of a genuine proof: each value replaced, each entry dropped, doubled and moved. The verdict is false, or
 * null with the field named, or the place is one of MEANINGLESS.
 */
import { expect, test } from 'vitest';
import { readProof } from '../../src/audit/proof/proof.ts';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { sealAndSign, TRUSTED } from '../support/checkpoint.ts';
import { createTestDatabase } from '../support/database.ts';
import { advance, startEngine } from '../support/engine.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

/** Words that stand elsewhere in the formats. */
const WORDS = [
  'pendente',
  'entregue',
  'erro',
  'suspensa',
  'attempts',
  'events',
  'send_orders',
  'apagado',
  'testemunha',
];

/** Nothing sealed repeats these, and `audit check` tells them as not proven, or does not tell them. */
const MEANINGLESS = [
  /^gerada_em$/,
  /^entrega\.concluida_em$/,
  // A receipt is judged by itself (receipts.ts): one that is left out says nothing.
  /^ancoras\b/,
];
/** Of a delivery that was ordered again. */
const ORDERED = [...MEANINGLESS, /^entrega\.status$/];
/** What may be left out: an order to send again, and the newest attempts (src/audit/README.md). */
const OMITTED = [/^pedidos\[\d\]$/];

const database = await createTestDatabase();
const { sql, pool } = database;
const receiver = await startReceiver();
const { partnerId } = await insertSubscriber(sql, receiver.url);
const engine = startEngine(pool);
receiver.answerWith((_, response) => response.writeHead(500).end('não'));
await commitEvents(sql, partnerId, 3);
await engine.poll();
await untilSettled(sql);
await sealAndSign(pool);
receiver.answerWith(status(200, 'obrigado'));
advance(engine, 120);
const [{ id }] = await sql<[{ id: string }]>`
  insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
  select 'reenvio', webhook_id, partner_id, array[id], 'test' from deliveries order by id limit 1
  returning delivery_ids[1] as id`;
await engine.poll();
await untilSettled(sql);
await sealAndSign(pool);
await sql`
  insert into anchor_receipts (kind, place, size, receipt)
  select 'bucket', 'https://kept.example/', size, 'x' from checkpoints order by size desc limit 1`;
const genuine = await readProof(pool, id);
const [{ id: open }] = await sql<[{ id: string }]>`select id from deliveries order by id offset 1 limit 1`;
const delivered = await readProof(pool, open);

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

interface Change {
  readonly place: string;
  readonly what: string;
  readonly text: string;
}

/** All strings and numbers of a file. */
function valuesOf(node: Json): Json[] {
  return node !== null && typeof node === 'object' ? Object.values(node).flatMap(valuesOf) : [node];
}

/** Other values of a leaf's kind, and of another kind. */
function others(value: Json): Json[] {
  if (value === null) return ['', 0, [], 'AAAA', false];
  if (typeof value === 'boolean') return [!value, null, String(value)];
  if (typeof value === 'number') return [value + 1, value - 1, -value - 1, value + 0.5, String(value), null, 2 ** 53];
  if (typeof value !== 'string') return [null, Array.isArray(value) ? {} : [], 'x'];
  const middle = value.length >> 1;
  const flipped = (at: number) =>
    value.slice(0, at) + String.fromCodePoint((value.codePointAt(at) ?? 64) ^ 1) + value.slice(at + 1);
  return [
    '',
    null,
    `${value} `,
    ` ${value}`,
    `${value}\n`,
    value.slice(1),
    value.slice(0, -1),
    `${value.slice(0, middle)} ${value.slice(middle)}`,
    `${value}AAAA`,
    value + value,
    value.toUpperCase(),
    value.replace(/=+$/, ''),
    ...(value === '' ? [] : [flipped(0), flipped(middle), flipped(value.length - 1)]),
  ].filter((other) => other !== value);
}

function* changes(root: Json): Generator<Change> {
  const said = () => JSON.stringify(root);
  const elsewhere = Array.from(new Set([...valuesOf(root), ...WORDS]));
  function* inside(value: Json, place: string): Generator<Change> {
    if (value === null || typeof value !== 'object') return;
    const list = Array.isArray(value) ? value : null;
    const node = value as Record<string, Json>;
    for (const name of Object.keys(node)) {
      const at = list === null ? `${place}${place === '' ? '' : '.'}${name}` : `${place}[${name}]`;
      const kept = node[name] as Json;
      const same = elsewhere.filter((other) => typeof other === typeof kept && other !== kept);
      for (const other of [...others(kept), ...same]) {
        node[name] = other;
        yield { place: at, what: `replaced by ${JSON.stringify(other).slice(0, 60)}`, text: said() };
      }
      node[name] = kept;
      if (list === null) {
        delete node[name];
        yield { place: at, what: 'dropped', text: said() };
        node[name] = kept;
        // Behind itself under the same name: readers take one of the two.
        const marked = `"doubled":${JSON.stringify(kept)}`;
        node['doubled'] = kept;
        yield { place: at, what: 'doubled', text: said().replace(marked, marked.replace('doubled', name)) };
        yield { place: at, what: 'under another name', text: said() };
        delete node['doubled'];
      } else {
        const index = Number(name);
        list.splice(index, 1);
        yield { place: at, what: 'dropped', text: said() };
        list.splice(index, 0, kept, kept);
        yield { place: at, what: 'doubled', text: said() };
        list.splice(index, 1);
        if (list.length > 1) {
          list.splice(index, 1);
          list.push(kept);
          const moved = index === list.length - 1 ? list.toReversed() : null;
          if (moved === null) yield { place: at, what: 'moved to the end', text: said() };
          list.pop();
          list.splice(index, 0, kept);
        }
      }
      yield* inside(kept, at);
    }
  }
  yield* inside(root, '');
}

test.each([
  ['that was ordered again', genuine, ORDERED],
  ['that arrived', delivered, MEANINGLESS],
])('no change of a leaf of the proof of a delivery %s is passed over', (_, proof, meaningless) => {
  const text = JSON.stringify(proof);
  expect(checkProof(text, TRUSTED)).toMatchObject({ fits: true, reason: null });
  const counted = { false: 0, null: 0, meaningless: 0 };
  const passed: string[] = [];
  for (const { place, what, text: changed } of changes(JSON.parse(text) as Json)) {
    if (changed === text) continue;
    const { fits, reason } = checkProof(changed, TRUSTED);
    const isMeaningless =
      meaningless.some((known) => known.test(place)) ||
      (what === 'dropped' && OMITTED.some((known) => known.test(place)));
    const [field = ''] = /^\w+/.exec(place) ?? [];
    if (fits === false) counted.false += 1;
    else if (fits === null && reason?.includes(field) === true) counted.null += 1;
    else if (isMeaningless) counted.meaningless += 1;
    else passed.push(`${place} ${what}: ${fits} ${reason}`);
  }
  expect(passed).toEqual([]);
  expect(counted.false).toBeGreaterThan(5_000);
});
