/** The published vectors of the evidence's formats (src/audit/verifiers/vectors.json), made anew from the code and PostgreSQL. */
import { NO_DIGEST } from '../../src/contract/erasure.ts';
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
/** A test of the webhook, which failed, and its delivery; an event that was erased, and its delivery. */
const TESTED = ['019c1402-7a10-7b01-8c02-5d03e4f50617', '019c1402-7a11-7b01-8c02-5d03e4f50618'] as const;
const ERASED = ['019c1402-8b20-7c11-9d12-6e13f4051628', '019c1402-8b21-7c11-9d12-6e13f4051629'] as const;
const ORDER = '019c1402-9c30-7d21-8e22-7f2304152639';
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

const hex = (digits: string) => String.raw`\x${digits}`;
type Source = readonly [SourceName, object];

const event = (position: number, id: string, tx: string, more: object): Source => [
  'events',
  {
    position,
    id,
    stream: id,
    version: 1,
    type: 'margem.falhou',
    family: 'margem',
    partner_id: PARTNER,
    occurred_at: AT,
    actor: 'api',
    fan_out: 1,
    imported: false,
    catalog_version: 1,
    tx,
    epoch: 1,
    ...more,
  },
];

const attempt = ([eventId, deliveryId]: readonly [string, string], tx: string, more: object): Source => [
  'attempts',
  {
    delivery_id: deliveryId,
    number: 1,
    late: false,
    event_id: eventId,
    webhook_id: WEBHOOK,
    partner_id: PARTNER,
    outcome: 'entregue',
    url: 'https://parceiro.example.com/carteiro?x=1',
    tx,
    epoch: 1,
    ...more,
  },
];

const sendOrder = (position: number, kind: string, deliveryId: string, tx: string, more: object): Source => [
  'send_orders',
  { position, kind, webhook_id: WEBHOOK, partner_id: PARTNER, delivery_ids: [deliveryId], tx, epoch: 1, ...more },
];

/** A second attempt of the erased event, without a digest of what it sent. */
const sentWithoutDigest = (recordedAt: string) =>
  attempt(ERASED, '820', {
    number: 2,
    status_code: 204,
    started_at: recordedAt,
    duration_ms: 9,
    claim: 'poller-1/15',
    body_digest: hex(NO_DIGEST),
    recorded_at: recordedAt,
  });

/** Rows as a table has them, as JSON; what is left out is null. */
const ROWS: readonly Source[] = [
  event(41, EVENT, '711', {
    snapshot: '700:712:705',
    data: { consulta_margem_id: EVENT, erro: 'não há margem: R$ 1,00' },
    salt: hex('000102030405060708090a0b0c0d0e0f'),
  }),
  attempt([EVENT, DELIVERY], '715', {
    status_code: 200,
    started_at: '2026-01-31T12:00:00.250Z',
    duration_ms: 12,
    address: '203.0.113.7',
    key_id: '9f3c2b11',
    claim: 'poller-1/12',
    answer: 'obrigad',
    recorded_at: '2026-01-31T12:00:00.263Z',
    salt: hex('101112131415161718191a1b1c1d1e1f'),
  }),
  sendOrder(7, 'reenvio', DELIVERY, '802', {
    actor: 'auditor@example.com',
    reason: 'pedido do parceiro',
    ordered_at: '2026-01-31T13:00:00.000Z',
  }),
  event(42, TESTED[0], '720', {
    type: 'webhook.teste',
    family: 'backoffice',
    actor: 'ana',
    fan_out: null,
    catalog_version: null,
    data: { exemplo_de: 'margem.falhou', data: { erro: 'exemplo' } },
    salt: hex('202122232425262728292a2b2c2d2e2f'),
  }),
  attempt(TESTED, '730', {
    outcome: 'tempo_esgotado',
    started_at: '2026-01-31T12:00:01.000Z',
    duration_ms: 30_000,
    claim: 'poller-1/13',
    recorded_at: '2026-01-31T12:00:31.002Z',
    salt: hex('303132333435363738393a3b3c3d3e3f'),
  }),
  sendOrder(8, 'teste', TESTED[1], '720', { actor: 'ana', ordered_at: AT }),
  event(43, ERASED[0], '740', {
    snapshot: '740:741:',
    data: { consulta_margem_id: ERASED[0], erro: 'apagado' },
    commitment: hex('5a'.repeat(32)),
  }),
  attempt(ERASED, '745', {
    status_code: 204,
    started_at: '2026-01-31T12:00:02.000Z',
    duration_ms: 9,
    claim: 'poller-1/14',
    body_digest: hex('5a'.repeat(32)),
    commitment: hex('6b'.repeat(32)),
    recorded_at: '2026-01-31T12:00:02.010Z',
  }),
  [
    'erasure_orders',
    {
      position: 1,
      id: ORDER,
      court_order: '0001234-56.2026.8.26.0100',
      actor: 'ana',
      reason: 'ordem judicial',
      events: 1,
      pages: 1,
      ordered_at: '2026-01-31T14:00:00.000Z',
      tx: '810',
      epoch: 1,
    },
  ],
  [
    'erasure_pages',
    {
      position: 1,
      order_id: ORDER,
      number: 1,
      event_ids: [ERASED[0]],
      remains: [hex('7c'.repeat(32))],
      tx: '810',
      epoch: 1,
    },
  ],
  sentWithoutDigest('2026-01-31T14:00:01.000Z'),
  sentWithoutDigest('2026-01-31T13:59:59.000Z'),
];

interface Row {
  readonly table: SourceName;
  readonly fields: Record<string, unknown> | undefined;
  readonly salt?: string;
  readonly committed?: string;
  readonly entry: string;
  readonly leaf: string;
}

/** The rows' entries as PostgreSQL writes them, with what their commitments hide. */
async function rowVectors(sql: Sql) {
  const vectors: Row[] = [];
  for (const [source, row] of ROWS) {
    const committed = { events: BODY, attempts: `convert_to(t.answer, 'UTF8')` }[source as string] ?? 'null::bytea';
    const salt = source === 'events' || source === 'attempts' ? 't.salt' : 'null::bytea';
    // What each attempt sent is the body of the event before it.
    const sent = vectors.findLast(({ table }) => table === 'events')?.fields?.['commitment'];
    const digest = source === 'attempts' && { body_digest: hex(String(sent)), ...row };
    const [found] = await sql.unsafe<[{ entry: Buffer; salt: Buffer | null; text: Buffer | null }]>(
      `select ${entryOf(source)} as entry, ${salt} as salt, ${committed} as text
       from jsonb_populate_record(null::${source}, $1::text::jsonb) ${asArchived(source)}`,
      [JSON.stringify(digest === false ? row : digest)],
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
      rows: index === 0 ? ROWS.length : 1,
      root,
      remains: index === 0 ? leafHash(Buffer.from('what erasing leaves')) : null,
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

/** What a receiver gets and kept, its clock, and what the API answers to each proof that it is asked for (null: it answers 503). */
async function headerVectors(leaves: Buffer) {
  const rootAt = (size: number) => rootOf(leaves.subarray(0, size * 32));
  const lineOf = (size: number, root = rootAt(size), by = KEY) =>
    checkpointHeader(signCheckpoint({ size, root }, [by]));
  const answer = async (old: number, size: number) =>
    JSON.stringify({ caminho: (await consistencyPath(inTree(leaves), old, size)).map(base64) });
  const [three, four, eight, nine] = [lineOf(3), lineOf(4), lineOf(8), lineOf(9)];
  const forked = lineOf(8, leafHash(Buffer.from('another log')));
  const right = await answer(3, 8);
  const short = JSON.stringify({ caminho: (JSON.parse(right) as { caminho: string[] }).caminho.slice(1) });
  const now = Date.parse(AT) / 1_000;
  const [fewer, before, yesterday] = ['{"codigo": "NAO_ENCONTRADO"}', now - 60, now - 86_401];
  const asked = (de: number, ate: number, text: string | null) => ({ de, ate, text });
  type Answers = readonly ReturnType<typeof asked>[];
  const kept = (line: string, since = before, ahead = '') => `${line} ${since} ${ahead}`.trimEnd();
  const of = (name: string, verdict: string, header: string, had: string, answers: Answers = [], keep = had) => ({
    name,
    verdict,
    now,
    header,
    kept: had,
    answers,
    keep,
  });
  const grown = [asked(3, 8, right)];
  const next = lineOf(8, rootAt(8), NEXT);
  const toNine = asked(3, 9, await answer(3, 9));
  const ahead = [asked(3, 8, fewer)];
  const reached = asked(8, 9, await answer(8, 9));
  return [
    of('the first one', 'ok', three, '', [], kept(three, now)),
    of('the same again', 'ok', three, kept(three)),
    of('the same again, kept without its time', 'ok', three, three, [], kept(three, now)),
    of('the same for more than a day', 'parado', three, kept(three, yesterday)),
    of('the log has grown', 'ok', eight, kept(three), grown, kept(eight, now)),
    of('the log has grown, after more than a day', 'ok', eight, kept(three, yesterday), grown, kept(eight, now)),
    of(
      'the log has grown from a power of two on',
      'ok',
      eight,
      kept(four),
      [asked(4, 8, await answer(4, 8))],
      kept(eight, now),
    ),
    of('an older one, from a poller that lags', 'parado', three, kept(eight), grown),
    of('one of more seals than the API’s log has', 'adiantado', eight, kept(three), ahead, kept(three, before, eight)),
    of('one farther ahead than another', 'adiantado', nine, kept(three, before, eight), [asked(3, 9, fewer)]),
    of(
      'one less far ahead than another',
      'adiantado',
      eight,
      kept(three, before, nine),
      ahead,
      kept(three, before, eight),
    ),
    of(
      'another one that was ahead is not reached',
      'ok',
      eight,
      kept(three, before, nine),
      grown,
      kept(eight, now, nine),
    ),
    of('one that was ahead has come true', 'ok', nine, kept(three, before, eight), [toNine, reached], kept(nine, now)),
    of('one that was ahead has come true otherwise', 'fork', nine, kept(three, before, forked), [toNine, reached]),
    of('one that was ahead has come true otherwise, at its size', 'fork', eight, kept(three, before, forked), grown),
    of('the API is away when one that was ahead is asked for', 'unknown', nine, kept(three, before, eight), [
      toNine,
      asked(8, 9, null),
    ]),
    of('signed by the next key', 'ok', next, kept(three), grown, kept(next, now)),
    of('one size, two roots', 'fork', forked, kept(eight)),
    of('the proof is of another log', 'fork', forked, kept(three), grown),
    of('the proof is one hash short', 'fork', eight, kept(three), [asked(3, 8, short)]),
    of('the proof is empty', 'fork', eight, kept(three), [asked(3, 8, '{"caminho": []}')]),
    of('what was kept is no line', 'fork', eight, 'x'),
    of('the API is away', 'unknown', eight, kept(three), [asked(3, 8, null)]),
    of('the API answers something else', 'unknown', eight, kept(three), [asked(3, 8, '<html>')]),
    of('the API answers without a proof', 'unknown', eight, kept(three), [asked(3, 8, '{"erro": {}}')]),
    of('no header', 'unknown', '', kept(three)),
    of('another size', 'forged', three.replace(' 3 ', ' 4 '), kept(three)),
    of('another root', 'forged', three.replace(/ (\S{43}=) /, ` ${base64(rootAt(4))} `), kept(three)),
    of('another signature', 'forged', three.replace(/\S+$/, eight.split(' ')[3] ?? ''), kept(three)),
    of('another log’s key', 'forged', lineOf(8, rootAt(8), OTHER), kept(three)),
    of('no line', 'forged', 'x', kept(three)),
    of('no line, nothing kept', 'forged', `${three} x`, ''),
    of('a header that is as what is kept', 'forged', kept(three), kept(three)),
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

/** Proofs of the three deliveries, and changed ones: `of` another, each of `edits` replaces the first place of a text in it. */
async function proofVectors(rows: readonly Row[], leaves: Buffer, seals: readonly Buffer[], sealLeaves: Buffer) {
  const checkpoint = signCheckpoint({ size: 9, root: rootOf(sealLeaves) }, [KEY]);
  const way = (await inclusionPath(inTree(sealLeaves), 0, 9)).map(base64);
  const prove = async (row: Row | undefined) => {
    const leaf = Buffer.from(row?.leaf ?? '', 'base64');
    const indice = Array.from({ length: leaves.length / 32 }, (_, index) => index).find((index) =>
      hashAt(leaves, index).equals(leaf),
    );
    const caminho = (await inclusionPath(inTree(leaves), indice ?? 0, leaves.length / 32)).map(base64);
    const answer = row?.table === 'attempts' && {
      resposta: row.committed === undefined ? null : base64(Buffer.from(row.committed)),
      sal: row.committed === undefined ? null : (row.salt ?? null),
    };
    return { tabela: row?.table, campos: row?.fields, entrada: row?.entry, ...answer, selo: 1, indice, caminho };
  };
  const proofOf = async (at: number, ids: readonly [string, string], more: object, orders: readonly Row[]) => {
    const event = rows[at];
    return JSON.stringify({
      formato: 'carteiro-prova-2',
      gerada_em: '2026-02-01T09:00:00.000Z',
      entrega: {
        id: ids[1],
        evento_id: ids[0],
        webhook_id: WEBHOOK,
        parceiro_id: PARTNER,
        criada_em: new Date(Number.parseInt(ids[0].replaceAll('-', '').slice(0, 12), 16)).toISOString(),
        concluida_em: '2026-01-31T12:00:31.000Z',
        status: 'entregue',
      },
      corpo: event?.committed ?? 'apagado',
      sal: event?.salt ?? null,
      evento: await prove(event),
      tentativas: [await prove(rows[at + 1])],
      pedidos: await Promise.all(orders.map(prove)),
      apagamento: null,
      selos: [{ numero: 1, entrada: seals[0]?.toString(), caminho: way, iguais: 0 }],
      checkpoint,
      ancoras: [],
      retido: null,
      ...more,
    });
  };
  const arrived = await proofOf(0, [EVENT, DELIVERY], {}, []);
  const ordered = await proofOf(0, [EVENT, DELIVERY], {}, [rows[2] as Row]);
  const tested = (await proofOf(3, TESTED, {}, [rows[5] as Row])).replace('"entregue"', '"erro"');
  const apagamento = { pedido: await prove(rows[8]), pagina: await prove(rows[9]) };
  const erased = await proofOf(6, ERASED, { apagamento }, []);
  const sentAgain = async (row: Row | undefined) =>
    proofOf(6, ERASED, { apagamento, tentativas: [await prove(rows[7]), await prove(row)] }, []);
  return [
    { name: 'a delivery that arrived', verdict: true, text: arrived },
    { name: 'one that was ordered again', verdict: true, text: ordered },
    { name: 'a test that failed', verdict: true, text: tested },
    { name: 'one whose text was erased', verdict: true, text: erased },
    { name: 'one that lost a CPF and was sent behind the order', verdict: true, text: await sentAgain(rows[10]) },
    { name: 'an attempt before the order without a digest', verdict: false, text: await sentAgain(rows[11]) },
    ...forgeries(arrived, seals[1]?.toString() ?? '', tested, erased),
  ];
}

type Edits = readonly (readonly [string, string])[];

/** Changes of a genuine file, most of which somebody has tried: see src/audit/README.md. */
function forgeries(arrived: string, second: string, tested: string, erased: string) {
  const member = (text: string, name: string) =>
    new RegExp(`"${name}":(?:"(?:[^"\\\\]|\\\\.)*"|\\[[^\\]]*\\]|[^,}]+)`).exec(text)?.[0] ?? '';
  const seals = /"selos":\[(.*?)\],"checkpoint"/s.exec(arrived)?.[1] ?? '';
  const attempt = /"tentativas":\[(.*?)\],"pedidos"/s.exec(arrived)?.[1] ?? '';
  const invented = JSON.stringify({
    numero: 1,
    entrada: second.replace(/^(.*\n)2\n/, '$11\n'),
    caminho: null,
    iguais: 0,
  });
  const beyond = JSON.stringify({ numero: 2, entrada: second, caminho: null, iguais: 0 });
  const index = /"indice":\d+/.exec(arrived)?.[0] ?? '';
  const entry = member(attempt, 'entrada');
  const salt = member(arrived, 'sal');
  const longer = `"sal":"${base64(Buffer.concat([Buffer.from(salt.slice(7, -1), 'base64'), Buffer.from('{')]))}"`;
  const list: [string, boolean | null, Edits][] = [
    ['a seal that stands twice, then without its way', false, [[seals, `${seals},${invented}`]]],
    ['a seal that stands twice, first without its way', false, [[seals, `${invented},${seals}`]]],
    ['a seal that stands twice', false, [[seals, `${seals},${seals}`]]],
    ['a seal without its way', null, [[member(seals, 'caminho'), '"caminho":null']]],
    ['a seal that no row is in', false, [[seals, `${seals},${beyond}`]]],
    ['no seal', false, [[seals, '']]],
    ['seals named twice, the last without any', false, [['"checkpoint":', '"selos":[],"checkpoint":']]],
    ['a body named twice', false, [['"sal":', '"corpo":"{}","sal":']]],
    ['an unknown name', false, [['"retido":null', '"retido":null,"x":1']]],
    ['an unknown name in a row', false, [['"tabela":"events"', '"tabela":"events","x":null']]],
    ['a name in capitals', false, [['"retido"', '"Retido"']]],
    ['another body', false, [['margem: R$ 1,00', 'margem: R$ 9,00']]],
    [
      'a byte moved from the body to its salt',
      false,
      [
        [salt, longer],
        ['"corpo":"{', '"corpo":"'],
      ],
    ],
    ['a salt of 15 bytes', false, [[salt, '"sal":"AAECAwQFBgcICQoLDA0O"']]],
    ['a blank in base64', false, [[entry, entry.replace(':"', ':" ')]]],
    ['a line break in base64', false, [[entry, entry.replace(':"', ':"\\n')]]],
    ['base64 without its end', false, [['=="', '="']]],
    ['base64 with bits behind the last byte', false, [['ODw==', 'ODx==']]],
    ['another outcome for people to read', false, [['"outcome":"entregue"', '"outcome":"erro_tls"']]],
    ['another status code for people to read', false, [['"status_code":200', '"status_code":201']]],
    ['another time for people to read', false, [['12:00:00.250Z', '11:00:00.250Z']]],
    ['another URL for people to read', false, [['/carteiro?x=1', '/carteiro?x=2']]],
    ['another type for people to read', false, [['"type":"margem.falhou"', '"type":"margem.concluida"']]],
    ['another author for people to read', false, [['"actor":"api"', '"actor":"ana"']]],
    ['a column left out for people to read', false, [['"url":"https://parceiro.example.com/carteiro?x=1",', '']]],
    ['a number as text', false, [['"status_code":200', '"status_code":"200"']]],
    ['a number with a fraction', false, [['"status_code":200', '"status_code":200.0']]],
    [
      'another time of the delivery’s making',
      false,
      [[member(arrived, 'criada_em'), '"criada_em":"2026-01-30T12:00:00.000Z"']],
    ],
    ['a time that is none', false, [['"gerada_em":"', '"gerada_em":"x']]],
    ['the status erro after one attempt', false, [['"status":"entregue"', '"status":"erro"']]],
    ['the status pendente of what arrived', false, [['"status":"entregue"', '"status":"pendente"']]],
    ['a status that is none', false, [['"status":"entregue"', '"status":"lida"']]],
    ['an attempt that stands twice', false, [[attempt, `${attempt},${attempt}`]]],
    ['no attempt', false, [[attempt, '']]],
    [
      'no attempt, and the status pendente',
      null,
      [
        [attempt, ''],
        ['"status":"entregue"', '"status":"pendente"'],
      ],
    ],
    ['no event', false, [['"evento":{', '"evento":null,"x":{']]],
    ['another answer', false, [['"resposta":"', '"resposta":"AAAA']]],
    ['no answer', false, [[member(arrived, 'resposta'), '"resposta":null']]],
    ['another delivery’s id', false, [[`"id":"${DELIVERY}"`, `"id":"${TESTED[1]}"`]]],
    ['another webhook’s id', false, [[`"webhook_id":"${WEBHOOK}"`, `"webhook_id":"${DELIVERY}"`]]],
    ['another partner’s id', false, [[`"parceiro_id":"${PARTNER}"`, `"parceiro_id":"${DELIVERY}"`]]],
    ['another place in the tree', false, [[index, `"indice":${Number(index.slice(9)) ^ 1}`]]],
    ['a place before the tree', false, [[index, '"indice":-1']]],
    ['a place behind the tree', false, [[index, '"indice":99']]],
    ['a row that is in no seal', false, [['"selo":1', '"selo":null']]],
    ['a row of a seal that is not there', false, [['"selo":1', '"selo":2']]],
    ['an entry left out', false, [[member(arrived, 'entrada'), '"entrada":null']]],
    ['another table', false, [['"tabela":"events"', '"tabela":"attempts"']]],
    ['a file that calls itself masked', null, [['"retido":null', '"retido":"x"']]],
    [
      'another body in a file that calls itself masked',
      null,
      [
        ['"retido":null', '"retido":"x"'],
        ['R$ 1,00', 'R$ 9,00'],
      ],
    ],
    ['no checkpoint', false, [[member(arrived, 'checkpoint'), '"checkpoint":null']]],
    ['a checkpoint of another size', false, [['log\\n9\\n', 'log\\n8\\n']]],
    ['a checkpoint of another name', false, [['"carteiro.example.com/log\\n', '"carteiro.example.com/gol\\n']]],
    ['a checkpoint that nobody signed', false, [['\\n\\n— ', '\\n\\nx ']]],
    ['another format', false, [['carteiro-prova-2', 'carteiro-prova-1']]],
    ['a body with half a character', false, [['"corpo":"{', String.raw`"corpo":"\ud800{`]]],
    ['more behind the file', false, [['"retido":null}', '"retido":null}{}']]],
    ['lists within lists', false, [['"ancoras":[]', `"ancoras":${'['.repeat(5_000)}${']'.repeat(5_000)}`]]],
    ['a receipt of one place twice', false, [['"ancoras":[]', `"ancoras":[${RECEIPT},${RECEIPT}]`]]],
    ['a receipt', true, [['"ancoras":[]', `"ancoras":[${RECEIPT}]`]]],
    ['another time of the file’s making', true, [['"gerada_em":"2026', '"gerada_em":"2027']]],
  ];
  const of = (base: string, text: string, cases: typeof list) =>
    cases.map(([name, verdict, edits]) => {
      let changed = text;
      for (const [from, to] of edits) {
        if (!changed.includes(from)) throw new Error(`${name}: nothing to replace`);
        changed = changed.replace(from, () => to);
      }
      return { name, of: base, verdict, edits };
    });
  return [
    ...of('a delivery that arrived', arrived, list),
    ...of('a test that failed', tested, [
      ['a test that calls itself real', false, [['"type":"webhook.teste"', '"type":"margem.falhou"']]],
      ['a test that is still to be sent', false, [['"status":"erro"', '"status":"pendente"']]],
      [
        'an answer beside an attempt that has none',
        false,
        [['"resposta":null,"sal":null', '"resposta":"AAAA","sal":"MDEyMzQ1Njc4OTo7PD0+Pw=="']],
      ],
      [
        'an answer of nothing',
        false,
        [['"resposta":null,"sal":null', '"resposta":"","sal":"MDEyMzQ1Njc4OTo7PD0+Pw=="']],
      ],
    ]),
    ...of('one whose text was erased', erased, [
      ['a text of an erased event', false, [['"corpo":"apagado"', '"corpo":"{}"']]],
      [
        'an erasure without its order',
        false,
        [[/"apagamento":\{.*\},"selos"/s.exec(erased)?.[0] ?? '', '"apagamento":null,"selos"']],
      ],
    ]),
  ];
}

const RECEIPT = JSON.stringify({
  tipo: 'bucket',
  onde: 'https://kept.example.com/',
  checkpoint: 'x',
  recibo: '',
  ancorada_em: AT,
  caminho: null,
});

export async function makeVectors(sql: Sql) {
  const rows = await rowVectors(sql);
  const leaves = Buffer.concat(rows.map(({ leaf }) => Buffer.from(leaf, 'base64')).toSorted(Buffer.compare));
  const seals = makeSeals(leaves);
  const sealLeaves = Buffer.concat(seals.map(leafHash));
  return {
    about:
      'For whoever writes a verifier of ../seals/README.md: bytes are in base64. rows: entries and leaves, and SHA-256(salt ‖ committed) ' +
      'where a commitment is. turn: the tree of these rows, which the first seal covers. seals: entries and leaves of the log’s tree. ' +
      'headers: X-Carteiro-Checkpoint beside the line that was kept before; answer is what the API says of consistency, null: nothing. ' +
      'proofs: files that GET …/prova answers, with the verdict by the first key; of another, with each of edits made once.',
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
    proofs: await proofVectors(rows, leaves, seals, sealLeaves),
  };
}
