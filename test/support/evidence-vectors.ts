/** The published vectors of the evidence's formats (src/audit/verifiers/vectors.json), made anew from the code and PostgreSQL. */
import { checkpointHeader, signCheckpoint } from '../../src/audit/checkpoint/checkpoint.ts';
import { readSigner, type Signer } from '../../src/audit/checkpoint/note.ts';
import { readEntry } from '../../src/audit/seals/entry.ts';
import {
  consistencyPath,
  hashAt,
  inclusionPath,
  leafHash,
  type ReadHashes,
  rootOf,
} from '../../src/audit/seals/tree/merkle.ts';
import { asArchived, BODY, entryOf, type SourceName } from '../../src/db/sealed-rows.ts';
import { sealEntry } from '../../src/audit/seals/seal-log.ts';
import type { Sql } from '../../src/db/pool.ts';

const signer = (text: string) => readSigner(text) as Signer;
const KEY = signer('PRIVATE+KEY+carteiro.example.com/log+395288d9+AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB');
const NEXT = signer('PRIVATE+KEY+carteiro.example.com/log+25db4ac7+AQICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC');
const OTHER = signer('PRIVATE+KEY+other.example.com/log+c778b2d9+AQMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMD');

const PARTNER = '019c1402-2a80-7c1e-8f3a-5d0b6e7a9c11';
const EVENT = '019c1402-5b10-7aa2-9d4e-3c8f1b2a6d70';
const WEBHOOK = '019c1402-5f77-7e09-b1c5-84d2e6f0a93b';
const DELIVERY = '019c1402-6f01-7d31-a0b2-1c4e5f6a7b8c';
const AT = '2026-01-31T12:00:00.000Z';
type Pairs = readonly (readonly [number, number])[];
/** Leaf and size of a tree; an old size and a new one. */
const INCLUDED: Pairs = [
  [0, 1],
  [0, 2],
  [2, 3],
  [1, 5],
  [4, 5],
  [6, 7],
  [3, 8],
  [8, 9],
];
const GROWN: Pairs = [
  [1, 2],
  [1, 9],
  [2, 3],
  [3, 7],
  [4, 8],
  [6, 9],
  [7, 8],
  [8, 9],
  [5, 5],
];
const base64 = (bytes: Buffer) => bytes.toString('base64');

/** Rows as a table has them, as JSON; what is left out is null. */
const ROWS: readonly (readonly [SourceName, object])[] = [
  [
    'events',
    {
      position: 41,
      id: EVENT,
      stream: EVENT,
      version: 1,
      type: 'margem.falhou',
      family: 'margem',
      partner_id: PARTNER,
      occurred_at: AT,
      actor: 'api',
      fan_out: 1,
      imported: false,
      catalog_version: 1,
      snapshot: '700:712:705',
      data: { consulta_margem_id: EVENT, erro: 'não há margem: R$ 1,00' },
      salt: String.raw`\x000102030405060708090a0b0c0d0e0f`,
      tx: '711',
      epoch: 1,
    },
  ],
  [
    'attempts',
    {
      delivery_id: DELIVERY,
      number: 1,
      late: false,
      event_id: EVENT,
      webhook_id: WEBHOOK,
      partner_id: PARTNER,
      outcome: 'entregue',
      status_code: 200,
      started_at: '2026-01-31T12:00:00.250Z',
      duration_ms: 12,
      url: 'https://parceiro.example.com/carteiro?x=1',
      address: '203.0.113.7',
      key_id: '9f3c2b11',
      claim: 'poller-1/12',
      answer: 'obrigad',
      salt: String.raw`\x101112131415161718191a1b1c1d1e1f`,
      recorded_at: '2026-01-31T12:00:00.263Z',
      tx: '715',
      epoch: 1,
    },
  ],
  [
    'send_orders',
    {
      position: 7,
      kind: 'reenvio',
      webhook_id: WEBHOOK,
      partner_id: PARTNER,
      delivery_ids: [DELIVERY],
      actor: 'auditor@example.com',
      reason: 'pedido do parceiro',
      ordered_at: '2026-01-31T13:00:00.000Z',
      tx: '802',
      epoch: 1,
    },
  ],
];

/** The rows' entries as PostgreSQL writes them, with what their commitments hide. */
async function rowVectors(sql: Sql) {
  const vectors = [];
  for (const [source, row] of ROWS) {
    const committed = { events: BODY, attempts: `convert_to(t.answer, 'UTF8')` }[source as string] ?? 'null::bytea';
    const salt = source === 'send_orders' ? 'null::bytea' : 't.salt';
    const [found] = await sql.unsafe<[{ entry: Buffer; salt: Buffer | null; text: Buffer | null }]>(
      `select ${entryOf(source)} as entry, ${salt} as salt, ${committed} as text
       from jsonb_populate_record(null::${source}, $1::text::jsonb) ${asArchived(source)}`,
      [JSON.stringify(row)],
    );
    vectors.push({
      table: source,
      fields: readEntry(found.entry)?.fields,
      ...(found.salt && found.text && { salt: base64(found.salt), committed: found.text.toString() }),
      entry: base64(found.entry),
      leaf: base64(leafHash(found.entry)),
    });
  }
  return vectors;
}

/** Seals 1 to 9 of a log; the first covers the rows above. */
function makeSeals(leaves: Buffer) {
  return Array.from({ length: 9 }, (_, index) => {
    const root = index === 0 ? rootOf(leaves) : leafHash(Buffer.from(`turn ${index + 1}`));
    const tx = (number: number) => 700 + number * 200;
    return sealEntry({
      number: index + 1,
      from: index === 0 ? { epoch: 0, tx: 0 } : { epoch: 1, tx: tx(index) },
      end: { epoch: 1, tx: tx(index + 1) },
      rows: index === 0 ? 3 : 1,
      root,
      sealedAt: new Date(Date.parse(AT) + index * 30_000),
    });
  });
}

const inTree =
  (hashes: Buffer): ReadHashes =>
  (_, from, end) =>
    Promise.resolve(hashes.subarray(from * 32, end * 32));

async function inclusionVectors(leaves: Buffer) {
  const vectors = [];
  for (const [index, size] of INCLUDED) {
    const path = (await inclusionPath(inTree(leaves), index, size)).map(base64);
    const root = base64(rootOf(leaves.subarray(0, size * 32)));
    const leaf = base64(hashAt(leaves, index));
    vectors.push({ name: `leaf ${index} of ${size}`, valid: true, leaf, index, size, root, path });
  }
  const right = vectors[3] as (typeof vectors)[number];
  const wrong = (name: string, changed: Partial<typeof right>) => ({ ...right, name, valid: false, ...changed });
  return [
    ...vectors,
    wrong('a path that is one hash short', { path: right.path.slice(1) }),
    wrong('a path that is one hash long', { path: [...right.path, right.root] }),
    wrong('another place', { index: 0 }),
    wrong('a place behind the tree’s end', { index: 5 }),
    wrong('another leaf', { leaf: base64(hashAt(leaves, 2)) }),
    wrong('another root', { root: base64(rootOf(leaves.subarray(0, 6 * 32))) }),
  ];
}

async function consistencyVectors(leaves: Buffer) {
  const rootAt = (size: number) => base64(rootOf(leaves.subarray(0, size * 32)));
  const vectors = [];
  for (const [old, size] of GROWN) {
    const path = (await consistencyPath(inTree(leaves), old, size)).map(base64);
    vectors.push({
      name: `${old} to ${size}`,
      valid: true,
      old,
      old_root: rootAt(old),
      size,
      root: rootAt(size),
      path,
    });
  }
  const right = vectors[3] as (typeof vectors)[number];
  const wrong = (name: string, changed: Partial<typeof right>) => ({ ...right, name, valid: false, ...changed });
  return [
    ...vectors,
    wrong('a path that is one hash short', { path: right.path.slice(0, -1) }),
    wrong('a path that is one hash long', { path: [...right.path, right.root] }),
    wrong('no path', { path: [] }),
    wrong('another old root', { old_root: rootAt(4) }),
    wrong('another new root', { root: rootAt(8) }),
    wrong('one size, two roots', { old: 7, old_root: rootAt(8), path: [] }),
  ];
}

/** What a receiver gets, what it kept, and what the API answers when it is asked for the proof (null: it answers 503). */
async function headerVectors(leaves: Buffer) {
  const rootAt = (size: number) => rootOf(leaves.subarray(0, size * 32));
  const lineOf = (size: number, root = rootAt(size), by = KEY) =>
    checkpointHeader(signCheckpoint({ size, root }, [by]));
  const answer = async (old: number, size: number) =>
    JSON.stringify({ caminho: (await consistencyPath(inTree(leaves), old, size)).map(base64) });
  const [three, four, eight] = [lineOf(3), lineOf(4), lineOf(8)];
  const forked = lineOf(8, leafHash(Buffer.from('another log')));
  const right = await answer(3, 8);
  const short = JSON.stringify({ caminho: (JSON.parse(right) as { caminho: string[] }).caminho.slice(1) });
  const of = (name: string, verdict: string, header: string, kept: string, answered: string | null, keep = kept) => ({
    name,
    verdict,
    header,
    kept,
    answer: answered,
    keep,
  });
  return [
    of('the first one', 'ok', three, '', null, three),
    of('the same again', 'ok', three, three, null),
    of('the log has grown', 'ok', eight, three, right, eight),
    of('the log has grown from a power of two on', 'ok', eight, four, await answer(4, 8), eight),
    of('an older one, from a poller that lags', 'ok', three, eight, right),
    of('signed by the next key', 'ok', lineOf(8, rootAt(8), NEXT), three, right, lineOf(8, rootAt(8), NEXT)),
    of('one size, two roots', 'fork', forked, eight, null),
    of('the proof is of another log', 'fork', forked, three, right),
    of('the proof is one hash short', 'fork', eight, three, short),
    of('the proof is empty', 'fork', eight, three, '{"caminho": []}'),
    of('what was kept is no line', 'fork', eight, 'x', null),
    of('the API is away', 'unknown', eight, three, null),
    of('the API answers something else', 'unknown', eight, three, '<html>'),
    of('the API answers without a proof', 'unknown', eight, three, '{"erro": {}}'),
    of('no header', 'unknown', '', three, null),
    of('another size', 'forged', three.replace(' 3 ', ' 4 '), three, null),
    of('another root', 'forged', three.replace(/ (\S{43}=) /, ` ${base64(rootAt(4))} `), three, null),
    of('another signature', 'forged', three.replace(/\S+$/, eight.split(' ')[3] ?? ''), three, null),
    of('another log’s key', 'forged', lineOf(8, rootAt(8), OTHER), three, null),
    of('no line', 'forged', 'x', three, null),
    of('no line, nothing kept', 'forged', `${three} x`, '', null),
  ];
}

function checkpointVectors(leaves: Buffer) {
  const root = rootOf(leaves.subarray(0, 7 * 32));
  const note = signCheckpoint({ size: 7, root }, [KEY]);
  const of = (name: string, text: string, valid = false) => ({ name, valid, note: text, size: 7, root: base64(root) });
  return [
    of('signed', note, true),
    of('signed by both keys of a rotation', signCheckpoint({ size: 7, root }, [KEY, NEXT]), true),
    of('signed by a stranger beside', signCheckpoint({ size: 7, root }, [KEY, OTHER]), true),
    of('signed by a stranger alone', signCheckpoint({ size: 7, root }, [OTHER])),
    of('another size', note.replace('\n7\n', '\n8\n')),
    of('another name', note.replace('carteiro.example.com/log\n', 'carteiro.example.com/gol\n')),
    of('a changed signature', note.replace(/\S{8}\n$/, 'AAAAAA==\n')),
  ];
}

export async function makeVectors(sql: Sql) {
  const rows = await rowVectors(sql);
  const leaves = Buffer.concat(rows.map(({ leaf }) => Buffer.from(leaf, 'base64')).toSorted(Buffer.compare));
  const seals = makeSeals(leaves);
  const sealLeaves = Buffer.concat(seals.map(leafHash));
  return {
    about:
      'For whoever writes a verifier of ../seals/README.md: bytes are in base64. rows: entries and leaves, and SHA-256(salt ‖ committed) ' +
      'where a commitment is. turn: the tree of these rows, which the first seal covers. seals: entries and leaves of the log’s tree. ' +
      'headers: X-Carteiro-Checkpoint beside the line that was kept before; answer is what the API says of consistency, null: nothing.',
    keys: [KEY.text, NEXT.text],
    rows,
    turn: {
      leaves: rows
        .map(({ leaf }) => leaf)
        .toSorted((a, b) => Buffer.compare(Buffer.from(a, 'base64'), Buffer.from(b, 'base64'))),
      root: base64(rootOf(leaves)),
    },
    seals: seals.map((entry) => ({ entry: entry.toString(), leaf: base64(leafHash(entry)) })),
    roots: seals.map((_, index) => ({
      size: index + 1,
      root: base64(rootOf(sealLeaves.subarray(0, (index + 1) * 32))),
    })),
    inclusion: await inclusionVectors(sealLeaves),
    consistency: await consistencyVectors(sealLeaves),
    checkpoints: checkpointVectors(sealLeaves),
    headers: await headerVectors(sealLeaves),
  };
}
