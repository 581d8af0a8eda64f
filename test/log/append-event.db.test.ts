/** What `append_event` takes and refuses, as a core of another language meets it: through SQL alone, with its own role. */
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { eventCatalog } from '../../src/contract/event-catalog.ts';
import { EVENTS, type EventType, type NoticeName } from '../../src/contract/events.ts';
import type { Sql } from '../../src/db/pool.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { insertPartner, insertSubscriber } from '../support/outbox.ts';
import { FAILED_DISBURSEMENT, FAILED_MARGIN, LOAN, PROCESSED_SETTLEMENT } from '../support/payloads.ts';

const database = await createTestDatabase();
await database.sql`create schema core_own`;
await database.sql`create table core_own.events (id int)`;
const login = await createLogin(database, 'carteiro_core');
await database.sql.unsafe(`grant usage on schema core_own to public; grant all on core_own.events to public`);
/** The core: its own role, its own search path. */
const core = connectTo(login.url, { max: 2, connection: { search_path: 'core_own' } });
const { partnerId } = await insertSubscriber(database.sql);

test("the core reads the catalog and its events' deliveries, and neither the log nor a webhook", async () => {
  const data = { emprestimo_id: randomUUID(), numero_emprestimo: '2026-00000001', motivo: 'conta encerrada' };
  const [event] = await core<[{ id: string }]>`
    select event_id as id from carteiro.append_event(
      ${data.emprestimo_id}, 0, 'desembolso.falhou', ${partnerId}, ${JSON.stringify(data)}::text::json, 'core')`;
  expect(await core`select status, attempts from carteiro.core_deliveries where event_id = ${event.id}`).toEqual([
    { status: 'pendente', attempts: 0 },
  ]);
  expect(await core`select kind from carteiro.event_types where name = 'autorizacao.confirmada'`).toEqual([
    { kind: 'emitted' },
  ]);
  for (const table of ['events', 'deliveries', 'webhooks', 'loans'])
    await expect(core.unsafe(`select from carteiro.${table}`)).rejects.toMatchObject({ code: '42501' });
});

test('an event has the version that its entry of the catalog had when it was appended', async () => {
  const append = async (): Promise<number | null> => {
    const id = randomUUID();
    const data = JSON.stringify({ emprestimo_id: id, averbacao_id: id });
    await database.sql`
      select append_event(${id}, 0, 'averbacao.solicitada', ${partnerId}, ${data}::text::json, 'core')`;
    const [found] = await database.sql<
      [{ version: number | null }]
    >`select catalog_version as version from events where stream = ${id}`;
    return found.version;
  };
  const before = await append();
  await database.sql`update event_types set version = version + 1 where name = 'averbacao.solicitada'`;
  expect([before, await append()]).toEqual([1, 2]);
});

interface Appended {
  readonly type?: string;
  readonly data?: string;
  readonly partner?: string;
  readonly version?: number | null;
  readonly family?: string;
  readonly stream?: string | null;
  readonly actor?: string | null;
  readonly request?: string | null;
  readonly occurredAt?: string | null;
}

function append(given: Appended) {
  const { type = 'desembolso.falhou', partner = partnerId, version = 0, family = 'backoffice', actor = 'core' } = given;
  const { stream = randomUUID(), request = null, occurredAt = null } = given;
  const data = (given.data ?? FAILED_DISBURSEMENT).replaceAll(LOAN, stream ?? LOAN);
  return core<{ fanOut: number }[]>`
    select fan_out as "fanOut" from carteiro.append_event(
      ${stream}, ${version}, ${type}, ${partner}, ${data}::text::json, ${actor}, ${request}, ${occurredAt}::text::timestamptz,
      ${family})`;
}

/** The body of the stream's newest message. */
async function bodyOf(stream: string): Promise<string> {
  const [row] = await database.sql<[{ body: Buffer }]>`
    select m.body from carteiro.events e join carteiro.messages m on m.event_id = e.id
    where e.stream = ${stream} order by e.version desc limit 1`;
  return row.body.toString();
}

describe('a core with nothing but its role', () => {
  test('appends into the log of Carteiro, whatever its own search path finds, and learns the version', async () => {
    const stream = randomUUID();
    expect(await append({ stream })).toEqual([{ fanOut: 1 }]);
    const [after] = await core<{ version: number }[]>`select carteiro.stream_version(${stream}) as version`;
    expect(after).toEqual({ version: 1 });
    expect(await database.sql`select version from carteiro.events where stream = ${stream}`).toEqual([{ version: 1 }]);
    expect(await core`select from core_own.events`).toEqual([]);
    expect(await core<{ version: number }[]>`select carteiro.stream_version(${randomUUID()}) as version`).toEqual([
      { version: 0 },
    ]);
  });

  test('takes the numbers of its loans from the series that our own core counts', async () => {
    const next = (sql: Sql) => sql<{ number: number }[]>`select carteiro.next_loan_number('2026')::int as number`;
    const [first] = await next(core);
    expect(await next(database.sql)).toEqual([{ number: (first?.number ?? 0) + 1 }]);
    await expect(core`select carteiro.next_loan_number('2026; drop')`).rejects.toThrow(/no series/);
  });

  test.each([
    'select * from carteiro.events',
    'select * from carteiro.partners',
    'insert into carteiro.pending (webhook_id, delivery_id, event_id, partner_id) values (uuidv7(), uuidv7(), uuidv7(), uuidv7())',
    "select carteiro.make_test_delivery(uuidv7(), uuidv7(), 'x', '{}', 'x')",
    "select carteiro.take_lanes('x', 1)",
  ])('may not: %s', async (statement) => {
    await expect(core.unsafe(statement)).rejects.toMatchObject({ code: '42501' });
  });
});

describe('it refuses, and leaves nothing', () => {
  const data = JSON.parse(FAILED_DISBURSEMENT) as Record<string, unknown>;
  const { emprestimo_id: loan, numero_emprestimo: number, motivo: reason } = data;
  test.each([
    ['an unknown type', { type: 'x.y' }, 'CT404', /"x.y" is unknown/],
    ['a notice', { type: 'webhook.falhando' }, 'CT404', /is a notice/],
    ['a reserved type', { type: 'repasse.pago' }, 'CT404', /reserved/],
    ['a family that there is not', { family: 'x' }, 'CT404', /family "x"/],
    ['an internal fact of the auction family', { type: 'documento.recebido', family: 'leilao' }, 'CT404', /family/],
    ['another object', { data: '{"foo":1}' }, 'CT400', /"foo" is unknown/],
    ['null', { data: 'null' }, 'CT400', /object, not null/],
    ['a list', { data: '[1,2]' }, 'CT400', /object, not array/],
    [
      'a missing key',
      { data: JSON.stringify({ emprestimo_id: loan, motivo: reason }) },
      'CT400',
      /"numero_emprestimo" is missing/,
    ],
    ['a key more', { data: JSON.stringify({ ...data, x: 1 }) }, 'CT400', /"x" is unknown/],
    [
      'a key twice',
      { data: FAILED_DISBURSEMENT.replace('{', `{"emprestimo_id":"${String(loan)}",`) },
      'CT400',
      /"emprestimo_id" stands twice/,
    ],
    ['U+0000', { data: FAILED_DISBURSEMENT.replace('conta', '\\u0000') }, 'CT400', /u0000/],
    ['half of a surrogate pair', { data: FAILED_DISBURSEMENT.replace('conta', '\\ud800') }, 'CT400', /surrogate/],
    [
      'another loan',
      { data: JSON.stringify({ ...data, emprestimo_id: randomUUID() }) },
      'CT403',
      /names the loan .* and the stream is/,
    ],
    ['a time without end', { occurredAt: 'infinity' }, 'CT400', /p_occurred_at .* not be infinity/],
    ['a time without beginning', { occurredAt: '-infinity' }, 'CT400', /p_occurred_at/],
    ['a time before 2000', { occurredAt: '1999-12-31T23:59:59.999Z' }, 'CT400', /p_occurred_at/],
    [
      'a time two days ahead',
      { occurredAt: new Date(Date.now() + 2 * 86_400_000).toISOString() },
      'CT400',
      /p_occurred_at/,
    ],
    [
      'more than 64 KiB',
      { data: FAILED_DISBURSEMENT.replace('conta', 'x'.repeat(65_536)) },
      'CT400',
      /has 6\d+ bytes, and 64 KiB/,
    ],
    ['an actor of control characters', { actor: 'a\nb' }, 'CT400', /^p_actor/],
    ['an actor of 256 characters', { actor: 'a'.repeat(256) }, 'CT400', /^p_actor/],
    ['a request of 65 characters', { request: 'a'.repeat(65) }, 'CT400', /^p_request_id/],
    ['a request with a space', { request: 'a b' }, 'CT400', /^p_request_id/],
    ['no request, in words', { request: '' }, 'CT400', /^p_request_id/],
    ['the last version of all', { version: 2_147_483_647 }, 'CT409', /not at version 2147483647/],
    ['another type', { data: JSON.stringify({ ...data, motivo: 3 }) }, 'CT400', /"motivo" must be string, not number/],
    [
      'an id that is none',
      { data: JSON.stringify({ ...data, emprestimo_id: 'x' }) },
      'CT400',
      /"emprestimo_id" is not of the form uuid/,
    ],
    ['no stream', { stream: null }, 'CT400', /^p_stream must not be null/],
    ['no actor', { actor: null }, 'CT400', /^p_actor must not be null/],
    ['no version', { version: null }, 'CT400', /^p_expected_version must not be null/],
    ['an unknown partner', { partner: '00000000-0000-7000-8000-000000000000' }, 'CT403', /there is no partner/],
    ['a version that is ahead', { version: 3 }, 'CT409', /not at version 3/],
    ['a version below zero', { version: -1 }, 'CT409', /not at version -1/],
  ] as const)('%s', async (_, given, code, message) => {
    const stream = randomUUID();
    await expect(append({ stream, ...given })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
      hint: expect.any(String) as string,
    });
    expect(await database.sql`select from events where stream = ${stream}`).toEqual([]);
  });

  const liquidated = {
    emprestimo_id: loan,
    numero_emprestimo: number,
    valor_liberado: 1,
    data_liberacao: '2026-01-31',
  };
  const margin = JSON.parse(FAILED_MARGIN) as Record<string, unknown>;
  const concluded = {
    cpf_trabalhador: margin['cpf_trabalhador'],
    cnpj_empregador: margin['cnpj_empregador'],
    consulta_margem_id: LOAN,
    salario_bruto: 1,
    margem_disponivel: 1,
    margem_percentual: 1,
  };
  const settled = JSON.parse(PROCESSED_SETTLEMENT) as Record<string, unknown>;
  const nextMonth = new Date(Date.now() + 32 * 86_400_000).toISOString().slice(0, 7);
  test.each([
    [
      'desembolso.liquidado',
      liquidated,
      'valor_liberado',
      ['1e3', '1e400', '0.001', '1.234', '10000000000000', '-1', '99999999999999999', '1e400000', '-0.01'],
      ['0', '0.1', '5000.50', '9999999999999.99', '9999999999999'],
    ],
    [
      'desembolso.liquidado',
      liquidated,
      'data_liberacao',
      ['"2026-02-30"', '"infinity"', '"2026-1-31"', '"20260131"', '"today"', '"July-04-12"'],
      ['"2024-02-29"', '"2026-01-31"'],
    ],
    [
      'margem.concluida',
      concluded,
      'margem_percentual',
      ['1e400', '1e-400', '0.12345678901234567891', '123456789012345678'],
      ['0.3333', '-1.5', '1e3', '0.1234567890123456', 'null', '12345678901234567000'],
    ],
    [
      'margem.concluida',
      concluded,
      'margem_disponivel',
      ['0.001', '-10000000000000', '1e3'],
      ['-0.01', '-9999999999999.99'],
    ],
    [
      'repasse.processado',
      settled,
      'competencia',
      ['"1999-12"', `"${nextMonth}"`, '"9999-12"', '"2026-13"'],
      ['"2000-01"', '"2026-01"'],
    ],
    [
      'repasse.processado',
      settled,
      'total_parcelas',
      ['1e2', '-1', '1.5', '9007199254740993'],
      ['0', '123456789012345'],
    ],
    [
      'repasse.processado',
      settled,
      'fechado_em',
      ['"infinity"', '"2026-02-30T00:00:00.000Z"', '"2026-02-28T24:00:00.000Z"', '"2026-02-27T23:59:60.000Z"'],
      ['"2026-02-28T23:59:59.999Z"'],
    ],
  ] as const)('of %s what a receiver would not read back: %#', async (type, fields, key, bad, good) => {
    const withValue = (value: string) => JSON.stringify({ ...fields, [key]: '@' }).replace('"@"', value);
    for (const value of bad)
      await expect(append({ type, data: withValue(value) })).rejects.toMatchObject({
        code: 'CT400',
        message: expect.stringMatching(value === '1e400000' ? /number without end/ : new RegExp(`"${key}"`)) as string,
      });
    for (const value of good) {
      const [stream, partner] = [randomUUID(), await insertPartner(database.sql)];
      expect(await append({ type, stream, partner, data: withValue(value) })).toHaveLength(1);
      expect(await bodyOf(stream)).toContain(`"${key}":${value}`);
    }
  });

  test('a version that is behind, and the stream of another partner at whatever version', async () => {
    const stream = randomUUID();
    await append({ stream });
    await expect(append({ stream })).rejects.toMatchObject({ code: 'CT409' });
    const partner = await insertPartner(database.sql);
    for (const version of [0, 1, 2])
      await expect(append({ stream, partner, version })).rejects.toMatchObject({
        code: 'CT403',
        message: `stream ${stream} is not of partner ${partner}`,
      });
  });

  test('a payload of 64 KiB is taken, and one of up to 1 MiB where the database is set so', async () => {
    const ofBytes = (bytes: number) =>
      FAILED_DISBURSEMENT.replace('conta', 'x'.repeat(bytes - FAILED_DISBURSEMENT.length + 5));
    expect(await append({ data: ofBytes(65_536) })).toHaveLength(1);
    const appendWith = (kib: string, bytes: number) =>
      core.begin(async (sql) => {
        const [stream, data] = [randomUUID(), ofBytes(bytes)];
        await sql`select set_config('carteiro.max_payload_kib', ${kib}, true)`;
        return sql`select carteiro.append_event(${stream}, 0, 'desembolso.falhou', ${partnerId}, ${data.replace(LOAN, stream)}::text::json, 'core')`;
      });
    expect(await appendWith('1024', 1_048_576)).toHaveLength(1);
    await expect(appendWith('4096', 1_048_577)).rejects.toMatchObject({
      message: expect.stringContaining('1024 KiB') as string,
    });
    await expect(appendWith('a lot', 65_537)).rejects.toMatchObject({
      message: expect.stringContaining('64 KiB') as string,
    });
  });

  test('no value of the payload is repeated', async () => {
    const text = JSON.stringify({ ...data, emprestimo_id: '52998224725' });
    const { message, hint, where, detail } = await append({ data: text }).then(
      () => Promise.reject(new Error('it was appended')),
      (refusal: postgres.PostgresError) => refusal,
    );
    expect(JSON.stringify({ message, hint, where, detail })).not.toContain('52998224725');
  });
});

test('an inactive partner’s fact is taken and delivered to nobody, on a living loan and on a new one', async () => {
  const { partnerId: partner } = await insertSubscriber(database.sql);
  const stream = randomUUID();
  expect(await append({ partner, stream })).toEqual([{ fanOut: 1 }]);
  await database.sql`update partners set active = false where id = ${partner}`;
  expect(await append({ partner, stream, version: 1 })).toEqual([{ fanOut: 0 }]);
  expect(await append({ partner })).toEqual([{ fanOut: 0 }]);
  expect(await database.sql`select count(*)::int as n from deliveries where partner_id = ${partner}`).toEqual([
    { n: 1 },
  ]);
});

test('a request is any 64 visible characters', async () => {
  const [stream, request] = [randomUUID(), 'req/01J–ç#'.padEnd(64, 'x')];
  await append({ stream, request });
  expect(await database.sql`select request_id from events where stream = ${stream}`).toEqual([{ request_id: request }]);
});

describe('the envelope of a payload', () => {
  const {
    emprestimo_id: loan,
    numero_emprestimo: number,
    motivo: reason,
  } = JSON.parse(FAILED_DISBURSEMENT) as Record<string, unknown>;

  test.each([
    ['in the catalog’s order has its bytes', FAILED_DISBURSEMENT],
    [
      'with spaces, lines and escapes has its bytes',
      FAILED_DISBURSEMENT.replaceAll(',', ' ,\n ').replace('conta', '\\u00e7 \\"\\ud83d\\ude00'),
    ],
  ])('%s', async (_, data) => {
    const stream = randomUUID();
    await append({ stream, data });
    expect(await bodyOf(stream)).toContain(`"data":${data.replace(LOAN, stream)}}`);
  });

  test('in another order has the catalog’s, each value in its own text', async () => {
    const stream = randomUUID();
    await append({ stream, data: `{ "motivo" : "a \\u00e7\\/" ,"numero_emprestimo":"1", "emprestimo_id":"${LOAN}"}` });
    expect(await bodyOf(stream)).toContain(
      `"data":{"emprestimo_id":"${stream}","numero_emprestimo":"1","motivo":"a \\u00e7\\/"}}`,
    );
  });

  test('has its objects in order, too', async () => {
    const [stream, type] = [randomUUID(), 'trabalhador.vinculo_novo'];
    const data = {
      cpf_trabalhador: '52998224725',
      nome_trabalhador: 'x',
      novo_empregador: { cnpj: '11222333000181', nome: 'y' },
      data_admissao: '2026-01-31',
      margem_disponivel: -1.5,
      emprestimo_id: stream,
      saldo_pendente: 1,
      averbavel: false,
    };
    await append({
      stream,
      type,
      data: JSON.stringify({ ...data, novo_empregador: { nome: 'y', cnpj: '11222333000181' } }),
    });
    expect(await bodyOf(stream)).toContain(`"data":${JSON.stringify(data)}}`);
  });

  test('has its ids in lower case, and the loan’s version', async () => {
    const stream = randomUUID();
    await append({
      stream,
      data: JSON.stringify({ emprestimo_id: stream.toUpperCase(), numero_emprestimo: number, motivo: reason }),
    });
    expect(await bodyOf(stream)).toContain(
      `"data":${JSON.stringify({ emprestimo_id: loan, numero_emprestimo: number, motivo: reason }).replace(LOAN, stream)}}`,
    );
    expect(await database.sql`select loan_version from events where stream = ${stream}`).toEqual([{ loan_version: 1 }]);
  });

  test.each([',', ', '])('has its ids in lower case where all else is usual (between keys: "%s")', async (comma) => {
    const [stream, registration] = [randomUUID(), 'ABCDEF01-2345-4789-8ABC-DEF012345678'];
    const ended = { emprestimo_id: stream, averbacao_id: registration, protocolo_registry: 'p' };
    const end = { stream, type: 'averbacao.concluida', data: JSON.stringify(ended).replaceAll('","', `"${comma}"`) };
    await append(end);
    expect(await bodyOf(stream)).toContain(registration.toLowerCase());
    // The registration has ended, however its id is written.
    for (const id of [registration, registration.toLowerCase()]) {
      const again = { ...end, version: 1, data: end.data.replace(registration, id) };
      await expect(append(again)).rejects.toMatchObject({ code: 'CT409' });
    }
  });
});

describe('what contract/ accepts, the database accepts', () => {
  const entries = eventCatalog().filter(({ kind }) => kind === 'emitted' || kind === 'internal');

  test.each(entries.map((entry) => [entry.name, entry] as const))('%s', async (type, entry) => {
    const schema = EVENTS[type as EventType].data;
    await fc.assert(
      fc.asyncProperty(exampleOf(entry.payload as Json), async (example) => {
        const parsed = schema.safeParse(example);
        fc.pre(parsed.success);
        const data = JSON.stringify({
          ...(parsed.data as Json),
          ...('emprestimo_id' in (parsed.data as Json) && { emprestimo_id: LOAN }),
        });
        const partner = await insertPartner(database.sql);
        expect(await append({ type, partner, data })).toHaveLength(1);
      }),
      { numRuns: 15, seed: 4_711 },
    );
  });

  const notices = eventCatalog().filter(({ kind }) => kind === 'notice');
  test.each(notices.map((entry) => [entry.name, entry] as const))('the notice %s', async (name, entry) => {
    const schema = EVENTS[name as NoticeName].data;
    await fc.assert(
      fc.asyncProperty(exampleOf(entry.payload as Json), async (example) => {
        const parsed = schema.safeParse(example);
        fc.pre(parsed.success);
        const data = JSON.stringify(parsed.data);
        const made = database.sql`select carteiro.make_notice(uuidv7(), ${name}, ${data}::text::json) as made`;
        expect(await made).toEqual([{ made: 0 }]);
      }),
      { numRuns: 15, seed: 4_711 },
    );
  });
});

describe('what is taken at a look has no fault, however its text was changed', () => {
  const entries = eventCatalog().filter(({ kind }) => kind === 'emitted' || kind === 'internal');
  const pieces = [
    '',
    '"',
    ',',
    ':',
    '{',
    '}',
    '0',
    '-',
    '.',
    'a',
    ' ',
    '\\n',
    '","',
    '":"',
    'null',
    '[]',
    '"x":1,',
    ',"x":1',
    '\u{7f}',
  ];
  const edit = fc.record({ at: fc.nat(), drop: fc.nat(2), put: fc.constantFrom(...pieces) });

  test.each(entries.map((entry) => [entry.name, entry] as const))('%s', async (type, entry) => {
    const texts = fc.sample(fc.tuple(exampleOf(entry.payload as Json), fc.array(edit, { maxLength: 2 })), {
      numRuns: 1_000,
      seed: 4_711,
    });
    const changed = texts.map(([example, edits]) => {
      const named = 'emprestimo_id' in (example as Json) && { emprestimo_id: LOAN };
      let text = JSON.stringify({ ...(example as Json), ...named });
      for (const { at, drop, put } of edits) {
        const marks = [...text.matchAll(/[",:_{}]/g)];
        const from = marks[at % marks.length]?.index ?? 0;
        text = text.slice(0, from) + put + text.slice(from + drop);
      }
      return text;
    });
    const taken = await database.sql<{ text: string; fits: boolean }[]>`
      select text, payload_fault(known, data) is null and in_catalog_order(known, data)::text = text
                   and coalesce(data ->> 'emprestimo_id', ${LOAN}) = ${LOAN} as fits
      from event_types known, unnest(${changed}::text[]) as given (text)
      cross join lateral (select case when pg_input_is_valid(text, 'json') then text::json end as data) read
      where name = ${type} and data is not null and (usual_event(name, 'backoffice', text, ${LOAN})).version is not null`;
    expect(taken.filter(({ fits }) => !fits)).toEqual([]);
    expect(taken.length).toBeGreaterThan(0);
  });
});

test.each([', ', ',', ' , '])(
  'a payload written with "%s" between its keys is taken at a look, or read, byte for byte',
  async (comma) => {
    const stream = randomUUID();
    const data = FAILED_DISBURSEMENT.replaceAll(',', comma).replaceAll(':"', comma === ',' ? ':"' : ' : "');
    await append({ stream, data });
    expect(await bodyOf(stream)).toContain(`"data":${data.replace(LOAN, stream)}}`);
  },
);

type Json = Readonly<Record<string, unknown>>;

/** Values of a payload's schema. */
function exampleOf(schema: Json, definitions = (schema['$defs'] ?? {}) as Json): fc.Arbitrary<unknown> {
  const reference = schema['$ref'];
  if (typeof reference === 'string')
    return exampleOf(definitions[reference.replace('#/$defs/', '')] as Json, definitions);
  if (Array.isArray(schema['anyOf']))
    return fc.oneof(...(schema['anyOf'] as Json[]).map((one) => exampleOf(one, definitions)));
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  if (schema['const'] !== undefined) return fc.constant(schema['const']);
  if (Array.isArray(schema['examples'])) return fc.constantFrom(...(schema['examples'] as unknown[]));
  if (typeof schema['pattern'] === 'string' && schema['minLength'] === undefined) return fc.constant('a'.repeat(64));
  const types = new Set([schema['type']].flat());
  if (types.has('object')) {
    const properties = Object.entries(schema['properties'] as Json);
    return fc.record(Object.fromEntries(properties.map(([key, one]) => [key, exampleOf(one as Json, definitions)])));
  }
  if (types.has('boolean')) return fc.boolean();
  if (types.has('integer')) return fc.integer({ min: 0, max: 1_000_000 });
  if (types.has('number')) return types.has('null') ? fc.constantFrom(null, 0.25, -0.3333) : fc.integer({ min: 0 });
  return fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 60 });
}
