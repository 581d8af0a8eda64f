/** What `append_event` judges as our API does, and how a core in another language may call it. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { dayOf } from '../../src/contract/calendar.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { insertPartner } from '../support/outbox.ts';

const DAY_MS = 86_400_000;
const database = await createTestDatabase();
const login = await createLogin(database, 'carteiro_core');
const core = connectTo(login.url, { max: 2, connection: {} });
const partner = await insertPartner(database.sql);

const contract = {
  numero: '2026-1',
  cpf_trabalhador: '52998224725',
  nome_trabalhador: 'João da Silva',
  matricula: 'M-1',
  cnpj_empregador: '11222333000181',
  tipo_assinatura: 'internal',
  entrega_documentos: 'agrupada',
  valor_liberado: 5000.5,
  numero_parcelas: 24,
  valor_parcela: 260.1,
  consulta_margem_id: null,
};

interface Given {
  readonly stream?: string;
  readonly version?: number;
  readonly type?: string | null;
  readonly partner?: string | null;
  readonly occurredAt?: Date | null;
}

async function append(data: object, given: Given = {}) {
  const { stream = randomUUID(), version = 0, type = 'emprestimo.contratado', occurredAt = null } = given;
  const text = JSON.stringify({ emprestimo_id: stream, ...data });
  await core`
    select carteiro.append_event(${stream}, ${version}, ${type}, ${given.partner === undefined ? partner : given.partner},
                                 ${text}::text::json, 'core', null, ${occurredAt})`;
  return stream;
}

const numbered = () => ({ ...contract, numero: randomUUID() });
const settled = (on: string) => ({ numero_emprestimo: '2026-1', valor_liberado: 5000.5, data_liberacao: on });

describe('a contract', () => {
  test.each([
    ['cpf_trabalhador', '52998224726', 'must be a CPF without punctuation, with its check digits'],
    ['cpf_trabalhador', '11111111111', 'must be a CPF without punctuation, with its check digits'],
    ['cnpj_empregador', '11222333000182', 'must be a CNPJ without punctuation, with its check digits'],
    ['nome_trabalhador', '', 'must have 1 to 200 characters'],
    ['nome_trabalhador', ' \u00a0', 'must have 1 to 200 characters'],
    ['nome_trabalhador', 'a\u0085b', 'must have 1 to 200 characters'],
    ['matricula', 'x'.repeat(61), 'must have 1 to 60 characters'],
    ['numero', '1'.repeat(300), 'must have 1 to 60 characters'],
    ['valor_liberado', 0, 'must be an amount > 0'],
    ['numero_parcelas', 97, 'must be a whole number from 1 to 96'],
    ['numero_parcelas', 1.5, 'must be a whole number from 1 to 96'],
    ['tipo_assinatura', 'x', 'must be one of internal, externa'],
  ])('is refused where %s is not as our API takes it: %s', async (key, value, rule) => {
    await expect(append({ ...numbered(), [key]: value })).rejects.toMatchObject({
      code: 'CT400',
      message: expect.stringContaining(`"${key}" ${rule}`) as string,
    });
  });

  test.each(['11222333000181', '12ABC34501DE35', '00000000000191'])('is taken with the CNPJ %s', async (cnpj) => {
    await expect(append({ ...numbered(), cnpj_empregador: cnpj })).resolves.toBeTruthy();
  });

  test('of a number that another loan of the partner bears is refused, also while the other one is not committed', async () => {
    const first = await append({ ...contract, numero: 'N-1' });
    const refused = { code: 'CT409', message: expect.stringContaining(first) as string, detail: '{"version":0}' };
    await expect(append({ ...contract, numero: 'N-1' })).rejects.toMatchObject(refused);
    await expect(append({ numero: 'N-1', valor_liberado: 1 }, { type: 'emprestimo.emitido' })).rejects.toMatchObject(
      refused,
    );
    await append({ numero: 'N-1', valor_liberado: 1 }, { stream: first, version: 1, type: 'emprestimo.emitido' });
    await append({ ...contract, numero: 'N-1' }, { partner: await insertPartner(database.sql) });
  });
});

describe('a transfer', () => {
  test.each([
    ['in 2030', '2030-01-01'],
    ['before the contract', dayOf(new Date(Date.now() - 3 * DAY_MS))],
  ])('%s is refused', async (_, day) => {
    const stream = await append(numbered());
    await expect(append(settled(day), { stream, version: 1, type: 'desembolso.liquidado' })).rejects.toMatchObject({
      code: 'CT400',
      message: expect.stringContaining('"data_liberacao" must be a day from the loan\'s contract') as string,
    });
    await append(settled(dayOf(new Date())), { stream, version: 1, type: 'desembolso.liquidado' });
  });

  test('is judged also for a core that sets what our own says when it has judged the day', async () => {
    const stream = await append(numbered());
    const told = core.begin(async (tx) => {
      await tx`select set_config('carteiro.day_is_judged', 'yes', true)`;
      const data = JSON.stringify({ emprestimo_id: stream, ...settled('2030-01-01') });
      await tx`select carteiro.append_event(${stream}, 1, 'desembolso.liquidado', ${partner}, ${data}::text::json, 'core')`;
    });
    await expect(told).rejects.toMatchObject({ code: 'CT400' });
  });
});

describe('a time', () => {
  test('of 2001 behind an event of today is refused; clocks may differ by a day', async () => {
    const stream = await append(numbered());
    const next = { stream, version: 1, type: 'averbacao.solicitada' };
    const data = { averbacao_id: randomUUID() };
    await expect(append(data, { ...next, occurredAt: new Date('2001-01-01T00:00:00Z') })).rejects.toMatchObject({
      code: 'CT400',
      message: expect.stringContaining('p_occurred_at must not lie more than a day before') as string,
    });
    await append(data, { ...next, occurredAt: new Date(Date.now() - DAY_MS / 2) });
  });
});

test('a conflict tells the version that the stream has, and that stream_version reads it', async () => {
  const stream = await append(numbered());
  await expect(
    append({ averbacao_id: stream }, { stream, version: 7, type: 'averbacao.solicitada' }),
  ).rejects.toMatchObject({
    code: 'CT409',
    detail: '{"version":1}',
    hint: expect.stringContaining('stream_version') as string,
  });
});

test.each([
  ['p_type', { type: null }],
  ['p_partner_id', { partner: null }],
] as const)('%s that is null is told as that', async (name, given) => {
  await expect(append(numbered(), given)).rejects.toMatchObject({ code: 'CT400', message: `${name} must not be null` });
});

test('the core reads which events stand in a stream, and the number of a loan', async () => {
  const stream = await append(numbered());
  expect(await core`select version, type, loan_number from carteiro.core_streams where stream = ${stream}`).toEqual([
    { version: 1, type: 'emprestimo.contratado', loan_number: null },
  ]);
});

describe('the arguments', () => {
  const call = (stream: string, args: string) =>
    core.unsafe(`select fan_out from carteiro.append_event(${args.replaceAll('@', stream)})`);
  const data = '{"emprestimo_id":"@","averbacao_id":"@"}';
  test.each([
    ['all unknown', `'@', '0', 'averbacao.solicitada', '${partner}', '${data}', 'core'`],
    ['an int and unknown', `'@', 0, 'averbacao.solicitada', '${partner}', '${data}', 'core'`],
    ['a bigint and json', `'@', 0::bigint, 'averbacao.solicitada', '${partner}', '${data}'::json, 'core'`],
    ['a smallint and jsonb', `'@', 0::smallint, 'averbacao.solicitada', '${partner}', '${data}'::jsonb, 'core'`],
    ['varchar and jsonb', `'@', 0, 'averbacao.solicitada'::varchar, '${partner}', '${data}'::jsonb, 'core'::varchar`],
    ['varchar and json', `'@', 0, 'averbacao.solicitada'::varchar, '${partner}', '${data}'::json, 'core'::varchar`],
    [
      'names',
      `p_stream => '@', p_expected_version => 0, p_type => 'averbacao.solicitada', p_partner_id => '${partner}', p_data => '${data}', p_actor => 'core'`,
    ],
  ])('may be %s', async (_, args) => {
    const stream = randomUUID();
    expect(await call(stream, args)).toEqual([{ fan_out: 0 }]);
    const [event] = await database.sql<
      [{ data: string }]
    >`select data::text as data from events where stream = ${stream}`;
    expect(Object.keys(JSON.parse(event.data) as object)).toEqual(['emprestimo_id', 'averbacao_id']);
  });
});

test('a session cannot say of itself that its server is the known one', async () => {
  const own = await createTestDatabase();
  const { url } = await createLogin(own, 'carteiro_core');
  const [ofPartner, stream] = [await insertPartner(own.sql), randomUUID()];
  await own.sql`update installation set system_identifier = 1`;
  const strange = connectTo(url, { connection: {} });
  for (const mark of ['yes', '', '1']) {
    await strange`select set_config('carteiro.known_server', ${mark}, false)`;
    await expect(
      strange`select carteiro.append_event(${stream}, 0, 'averbacao.solicitada', ${ofPartner},
                ${JSON.stringify({ emprestimo_id: stream, averbacao_id: stream })}::text::json, 'core')`,
    ).rejects.toMatchObject({ code: 'CT503' });
  }
  await expect(strange`select carteiro.session_mark()`).rejects.toMatchObject({ code: '42501' });
});
