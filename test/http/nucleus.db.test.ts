/** The loan core's door over HTTP: whom it lets in, what a key does, and what is refused. */
import { describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { CoreEvent } from '../../src/contract/resources/nucleus-resource.ts';
import { EMITTED_NAMES } from '../../src/contract/events.ts';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { startApi } from '../support/api.ts';
import type { ApiDescription } from '../support/description.ts';
import { startPartnerWorld, TERMS, type TestPartner } from '../support/partner-world.ts';

const world = await startPartnerWorld({ sandbox: null });
const core = await world.api.token(undefined, ['nucleo']);

const send = (path: string, token: string, body?: unknown, key?: string) =>
  world.api.send<LoanResource & ErrorBody>('POST', path, {
    token,
    ...(body !== undefined && { body }),
    ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
  });
const signing = (id: string) => `/v1/nucleo/emprestimos/${id}/assinatura`;
const AUTHORIZATIONS = '/v1/nucleo/autorizacoes';
const accepted = (partnerId: string) => ({
  parceiro_id: partnerId,
  cpf_trabalhador: TERMS.cpf_trabalhador,
  origem: 'mensageria',
});

async function versionOf(id: string): Promise<number> {
  const [row] = await world.api.database.sql<[{ version: number }]>`select stream_version(${id}) as version`;
  return row.version;
}

describe('a token', () => {
  test('of a partner is 403, whatever scopes it holds, and moves nothing', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    const token = await world.api.token(partner.id, ['nucleo', 'emprestimos:write', 'auditoria:read']);
    for (const [path, body] of [
      [signing(id), undefined],
      [AUTHORIZATIONS, accepted(partner.id)],
    ] as const) {
      const answer = await send(path, token, body);
      expect([answer.status, answer.body.codigo]).toEqual([403, 'ESCOPO_INSUFICIENTE']);
      expect(answer.headers.get('WWW-Authenticate')).toContain('insufficient_scope');
    }
    expect(await versionOf(id)).toBe(1);
  });

  test('of an auditor is 403, and the core is 403 where an auditor or a partner asks', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    const auditor = await world.api.token(undefined, ['auditoria:read']);
    expect((await send(signing(id), auditor)).status).toBe(403);
    for (const path of ['/v1/auditoria/tentativas', `/v1/emprestimos/${id}`])
      expect((await world.api.send('GET', path, { token: core })).status).toBe(403);
  });

  test("of the core that holds a partner's scope too is 401 there: it names no partner", async () => {
    const token = await world.api.token(undefined, ['nucleo', 'emprestimos:read']);
    const answer = await world.api.send('GET', `/v1/emprestimos/${crypto.randomUUID()}`, { token });
    expect([answer.status, answer.body.codigo]).toEqual([401, 'CREDENCIAL_INVALIDA']);
  });
});

test('the core is not held to the rate of partners', async () => {
  const limited = await startApi({ rateLimitPerMinute: 1, sandbox: null });
  const token = await limited.token(undefined, ['nucleo']);
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1)
    statuses.push((await limited.send('POST', signing(crypto.randomUUID()), { token })).status);
  expect(statuses).toEqual([404, 404, 404]);
});

describe('a fact', () => {
  test("is the loan's partner's, with the core as its actor, and answers the loan as the partner reads it", async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    const answer = await send(signing(id), core);
    expect([answer.status, answer.body]).toEqual([200, await partner.read(id)]);
    const [event] = await world.api.database.sql`
      select partner_id, actor from events where stream = ${id} and version = 2`;
    expect(event).toEqual({ partner_id: partner.id, actor: expect.any(String) });
  });

  test('that the loan does not allow is 409 and names its status; an unknown loan is 404; a bad body is 400', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    const path = `/v1/nucleo/emprestimos/${id}/desembolso`;
    const early = await send(path, core, { resultado: 'liquidado' });
    expect([early.status, early.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
    expect(early.body.mensagem).toContain('em_assinatura');
    expect((await send(signing(crypto.randomUUID()), core)).status).toBe(404);
    expect((await send(path, core, { resultado: 'talvez' })).body.detalhes).toMatchObject([{ campo: 'resultado' }]);
  });

  test('about a partner that has left is taken, without a delivery, with a key or without; an unknown one is 400', async () => {
    for (const key of [undefined, 'inactive-1']) {
      const partner = await world.partner();
      const id = await partner.newLoan();
      await world.api.database.sql`update partners set active = false where id = ${partner.id}`;
      expect((await send(signing(id), core, undefined, key)).status).toBe(200);
      expect((await send(AUTHORIZATIONS, core, accepted(partner.id), key && `${key}-a`)).status).toBe(201);
      expect(
        await world.api.database.sql`
        select type, fan_out from events where partner_id = ${partner.id} and fan_out is not null order by position`,
      ).toEqual([
        { type: 'assinatura.concluida', fan_out: 0 },
        { type: 'autorizacao.confirmada', fan_out: 0 },
      ]);
    }
    expect((await send(AUTHORIZATIONS, core, accepted(crypto.randomUUID()))).body.detalhes).toEqual([
      { campo: 'parceiro_id', mensagem: 'não é um parceiro' },
    ]);
  });
});

describe('what append_event refuses', () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const failed = (motivo: string) => `{"resultado":"falhou","motivo":${motivo}}`;
  const settled = (on: string) => JSON.stringify({ resultado: 'liquidado', data_liberacao: on });
  const terms = (key: keyof typeof TERMS, value: string) =>
    JSON.stringify({ ...TERMS, [key]: 0 }).replace(`"${key}":0`, `"${key}":${value}`);

  test.each([
    ['null', 'desembolso', 'null', 'corpo'],
    ['a list', 'desembolso', '[1]', 'corpo'],
    ['half an object', 'desembolso', '{"resultado":', ''],
    ['a missing key', 'desembolso', '{}', 'resultado'],
    ['a key more', 'desembolso', '{"resultado":"liquidado","x":1}', 'x'],
    ['another type', 'desembolso', '{"resultado":1}', 'resultado'],
    ['a text of no character', 'desembolso', failed('""'), 'motivo'],
    ['U+0000', 'desembolso', failed(String.raw`"\u0000"`), 'motivo'],
    ['half of a surrogate pair', 'desembolso', failed(String.raw`"\ud800"`), ''],
    ['a text of 501 characters', 'desembolso', failed(`"${'x'.repeat(501)}"`), 'motivo'],
    ['a time without end', 'desembolso', settled('infinity'), 'data_liberacao'],
    ['a day before 2000', 'desembolso', settled('1999-12-31'), 'data_liberacao'],
    ['a day that is to come', 'desembolso', settled(day(2)), 'data_liberacao'],
    ['an amount without end', 'emprestimos', terms('valor_liberado', '1e400'), 'valor_liberado'],
    ['an amount of three decimals', 'emprestimos', terms('valor_liberado', '1.005'), 'valor_liberado'],
    ['an amount of 10^13', 'emprestimos', terms('valor_liberado', '10000000000000'), 'valor_liberado'],
    ['a number as a text', 'emprestimos', terms('numero_parcelas', '"12"'), 'numero_parcelas'],
    ['a CPF of another form', 'emprestimos', terms('cpf_trabalhador', '"1"'), 'cpf_trabalhador'],
  ])('%s is 400 over HTTP, names the field, and appends nothing', async (_name, to, body, field) => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    await send(signing(id), core);
    await partner.register(id);
    const isCore = to === 'desembolso';
    const answer = await world.api.send(
      'POST',
      isCore ? `/v1/nucleo/emprestimos/${id}/desembolso` : '/v1/emprestimos',
      {
        token: isCore ? core : partner.token,
        headers: { 'Idempotency-Key': 'refused' },
        body,
      },
    );
    expect([answer.status, answer.body.codigo]).toEqual([400, 'ERRO_VALIDACAO']);
    expect(answer.body.detalhes?.map(({ campo }) => campo) ?? ['']).toContain(field);
    const [log] = await world.api.database.sql`
      select count(*)::int as events, count(distinct stream)::int as streams from events where partner_id = ${partner.id}`;
    expect(log).toEqual({ events: 4, streams: 1 });
  });

  test('ids in upper case are taken, and are in lower case in the log; a trace that is none is left out', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    const sent = { token: core, headers: { traceparent: 'none' } };
    expect((await world.api.send('POST', signing(id.toUpperCase()), sent)).status).toBe(200);
    expect((await send(AUTHORIZATIONS, core, accepted(partner.id.toUpperCase()))).status).toBe(201);
    const rows = await world.api.database.sql<{ type: string; loan: string | null; traceparent: string | null }[]>`
      select type, data ->> 'emprestimo_id' as loan, traceparent from events where partner_id = ${partner.id} order by position`;
    expect(rows.slice(1)).toEqual([
      { type: 'assinatura.concluida', loan: id, traceparent: null },
      { type: 'autorizacao.confirmada', loan: null, traceparent: null },
    ]);
  });
});

describe('an Idempotency-Key of the core', () => {
  test('gives the first answer again, however far the loan has come, and appends nothing', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    const first = await send(signing(id), core, undefined, 'sign-1');
    await partner.register(id);
    const again = await send(signing(id), core, undefined, 'sign-1');
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await versionOf(id)).toBe(4);
  });

  test('is 422 for another loan and for another body, also of another partner', async () => {
    const [one, other] = [await world.partner(), await world.partner()];
    const [loan, stranger] = [await one.newLoan(), await other.newLoan()];
    expect((await send(signing(loan), core, undefined, 'sign-2')).status).toBe(200);
    const answer = await send(signing(stranger), core, undefined, 'sign-2');
    expect([answer.status, answer.body.codigo]).toEqual([422, 'IDEMPOTENCIA_DIVERGENTE']);
    expect(await versionOf(stranger)).toBe(1);
  });

  test("is the lender's own: a partner's key of the same name is another", async () => {
    const partner = await world.partner();
    const id = (await partner.issue('shared')).body.id;
    expect((await send(signing(id), core, undefined, 'shared')).status).toBe(200);
    expect((await partner.issue('shared')).body.id).toBe(id);
  });

  test('of a refusal stays free', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    const path = `/v1/nucleo/emprestimos/${id}/desembolso`;
    expect((await send(path, core, { resultado: 'liquidado' }, 'pay-1')).status).toBe(409);
    await send(signing(id), core);
    await partner.register(id);
    expect((await send(path, core, { resultado: 'liquidado' }, 'pay-1')).body.status).toBe('desembolsada');
  });

  test('makes one authorization, however often it is sent at once', async () => {
    const partner = await world.partner();
    const all = await Promise.all(
      Array.from({ length: 8 }, () => send(AUTHORIZATIONS, core, accepted(partner.id), 'accept-1')),
    );
    expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const rows = await world.api.database.sql`select from events where partner_id = ${partner.id}`;
    expect(rows).toHaveLength(1);
  });

  test('survives commands that meet on one version: each is decided on what the other left', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    await send(signing(id), core);
    await partner.register(id);
    const path = `/v1/nucleo/emprestimos/${id}/desembolso`;
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, index) => send(path, core, { resultado: 'falhou' }, `fail-${index}`)),
    );
    expect(all.map(({ status }) => status)).toEqual(Array<number>(8).fill(200));
    expect(await versionOf(id)).toBe(12);
  });
});

test('the description has every operation of the core under a tag of its own; those that post take a key', async () => {
  const { paths } = (await (await world.api.app.request('/openapi.json?para=tudo')).json()) as ApiDescription;
  const own = Object.entries(paths).filter(([path]) => path.startsWith('/v1/nucleo/'));
  const operations = own.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path.slice(11)}`),
  );
  expect(operations.toSorted()).toEqual([
    'get catalogo',
    'get emprestimos/{id}',
    'get eventos/{id}',
    'post autorizacoes',
    'post emprestimos',
    'post emprestimos/{id}/assinatura',
    'post emprestimos/{id}/averbacao',
    'post emprestimos/{id}/desembolso',
    'post emprestimos/{id}/documentos',
    'post emprestimos/{id}/documentos-dataprev',
    'post emprestimos/{id}/emissao',
    'post margens',
    'post parceiros',
    'post parceiros/{id}/webhooks',
    'post repasses',
    'post vinculos/desligamentos',
    'post vinculos/novos',
    'put parceiros/{id}',
  ]);
  for (const [, { get, post }] of own) {
    for (const operation of [get, post].filter((one) => one !== undefined))
      expect(operation).toMatchObject({ tags: ['nucleo'], security: [{ bearer: ['nucleo'] }] });
    const keys = post === undefined || post.parameters.some(({ name }) => name === 'Idempotency-Key');
    expect(keys).toBe(true);
  }
});

const CORE_LOANS = '/v1/nucleo/emprestimos';
const MARGIN = { cpf: TERMS.cpf_trabalhador, numero_inscricao_empregador: TERMS.cnpj_empregador };
const WITH_MARGIN = { ...MARGIN, resultado: 'concluida', valor_total_vencimentos: 5000, valor_margem_disponivel: 1500 };

describe('a loan that the core issues', () => {
  test('is made once for a key, of the partner it names, and may name a query that the core told', async () => {
    const { id: parceiro_id } = await world.partner();
    const query = await world.api.send<{ consulta_margem_id: string }>('POST', '/v1/nucleo/margens', {
      token: core,
      body: { parceiro_id, ...WITH_MARGIN },
    });
    const terms = { parceiro_id, ...TERMS, consulta_margem_id: query.body.consulta_margem_id };
    const [first, again] = [
      await send(CORE_LOANS, core, terms, 'loan-1'),
      await send(CORE_LOANS, core, terms, 'loan-1'),
    ];
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(first.headers.get('Location')).toBe(`${CORE_LOANS}/${first.body.id}`);
    const read = await world.api.send('GET', `${CORE_LOANS}/${first.body.id}`, { token: core });
    expect(read.body).toEqual(first.body);
    const unknown = { ...terms, consulta_margem_id: crypto.randomUUID() };
    expect((await send(CORE_LOANS, core, unknown)).body.detalhes).toMatchObject([{ campo: 'consulta_margem_id' }]);
  });

  test('is 400 for a partner that is unknown', async () => {
    for (const [path, body] of [
      [CORE_LOANS, TERMS],
      ['/v1/nucleo/margens', WITH_MARGIN],
    ] as const) {
      const answer = await send(path, core, { parceiro_id: crypto.randomUUID(), ...body });
      expect(answer.body.detalhes).toMatchObject([{ campo: 'parceiro_id' }]);
    }
  });
});

describe('what the core reads', () => {
  test('is a loan at each version, and 404 beyond', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    await send(signing(id), core);
    const at = (query: string) => world.api.send<LoanResource>('GET', `${CORE_LOANS}/${id}${query}`, { token: core });
    expect([(await at('')).body.versao, (await at('?versao=1')).body.status]).toEqual([2, 'em_assinatura']);
    expect([(await at('?versao=3')).status, (await at('?versao=0')).status]).toEqual([404, 400]);
  });

  test('is an event, internal ones too, with each delivery’s status and attempts', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    await send(signing(id), core);
    await partner.received();
    const events = await world.api.database.sql<
      { id: string }[]
    >`select id from events where stream = ${id} order by version`;
    const read = events.map(({ id: event }) =>
      world.api.send<CoreEvent>('GET', `/v1/nucleo/eventos/${event}`, { token: core }),
    );
    const [contract, signed] = (await Promise.all(read)).map(({ body }) => body);
    expect(contract).toMatchObject({ evento: 'emprestimo.contratado', fluxo: id, versao: 1, entregas: [] });
    expect(signed).toMatchObject({ evento: 'assinatura.concluida', emprestimo_id: id, versao_emprestimo: 2 });
    expect(signed?.entregas).toMatchObject([
      { status: 'entregue', total_tentativas: 1, tentativas: [{ resultado: 'entregue', status_http: 200 }] },
    ]);
    const unknown = `/v1/nucleo/eventos/${crypto.randomUUID()}`;
    expect((await world.api.send('GET', unknown, { token: core })).status).toBe(404);
  });

  test('is the catalog as the database holds it', async () => {
    const { body } = await world.api.send<{ itens: { evento: string; tipo: string }[] }>('GET', '/v1/nucleo/catalogo', {
      token: core,
    });
    const emitted = body.itens.filter(({ tipo }) => tipo === 'emitido').map(({ evento }) => evento);
    expect(emitted.toSorted()).toEqual(EMITTED_NAMES.toSorted());
  });
});

describe('a fact that two cores know', () => {
  async function asked(partner: TestPartner): Promise<{ id: string; registration: string }> {
    const id = await partner.newLoan();
    await send(signing(id), core);
    const { averbacao } = await partner.accepted(`/v1/emprestimos/${id}/averbacao`).then(() => partner.read(id));
    return { id, registration: averbacao?.id ?? '' };
  }
  const end = (id: string, body: object) => send(`${CORE_LOANS}/${id}/averbacao`, core, body);
  test('is answered once: our worker’s registration that the core ended stays as the core ended it', async () => {
    const partner = await world.partner();
    const { id } = await asked(partner);
    expect((await end(id, { resultado: 'concluida', protocolo_registry: 'REG-9' })).status).toBe(200);
    await partner.tickWorker();
    expect((await partner.read(id)).averbacao).toMatchObject({ status: 'concluida', protocolo_registry: 'REG-9' });
    const second = await end(id, { resultado: 'falhou', erro: 'tarde' });
    expect([second.status, second.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
    expect(second.body.mensagem).toContain('concluída com o protocolo REG-9');
  });
});
