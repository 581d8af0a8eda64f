/** The adapter against bridges that are slow, wrong, silent or lying, each on a real socket. */
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAdapter } from '../../src/registry/adapter.ts';
import { behindGate, RegistryGate } from '../../src/registry/gate.ts';
import { RegistryFailure } from '../../src/registry/port.ts';
import type { LoanState } from '../../src/loan/state.ts';
import type { RegistrySettings } from '../../src/settings/outside-settings.ts';
import { makeAuthority } from '../support/certificates.ts';
import { endOf } from '../support/ends.ts';
import { listening } from '../support/listening.ts';
import { REGISTRY_SETTINGS } from '../support/registry-settings.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const ID = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';
const QUESTION = {
  queryId: ID,
  partnerId: ID,
  workerCpf: '52998224725',
  employerCnpj: '11222333000181',
  requestId: 'req-1',
};
const LOAN = {
  registrationId: ID,
  requestId: null,
  loan: {
    id: ID,
    number: '2026-00000001',
    workerCpf: QUESTION.workerCpf,
    workerEnrollment: 'M-1',
    employerCnpj: QUESTION.employerCnpj,
    releasedCentavos: 123_450,
    installments: 12,
    installmentCentavos: 12_005,
  } as LoanState,
};
const WINDOW = {
  partnerId: null,
  from: new Date(0),
  until: new Date(1_000),
  onMisshapen: (rule: string) => expect.unreachable(rule),
};
const MARGIN = { valor_total_vencimentos: 5000, valor_margem_disponivel: -1.25 };
const never = () => new AbortController().signal;

interface Got {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A bridge that answers by a script, and the adapter that asks it. */
async function bridge(
  answer: (response: ServerResponse, got: Got, count: number) => void,
  more: Partial<RegistrySettings> = {},
) {
  const got: Got[] = [];
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      got.push({ method: request.method, url: request.url, headers: request.headers, body });
      answer(response, got.at(-1) as Got, got.length);
    });
  };
  const server = createServer(listener);
  const url = `http://127.0.0.1:${await listening(server)}/base`;
  const adapter = createAdapter({ ...REGISTRY_SETTINGS, url, ...more });
  endOf(() => adapter.close());
  return { adapter, got };
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
const raw = (status: number, body: string) => (response: ServerResponse) => void response.writeHead(status).end(body);

/** What was wrong, as our log says it, and what a partner is told. */
async function failureOf(asking: Promise<unknown>): Promise<{ message: string; reported: string }> {
  const error = await asking.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RegistryFailure)) throw new Error(`expected a failure, got ${String(error)}`);
  return { message: error.message, reported: error.reported };
}

describe('a bridge that keeps to the contract', () => {
  test('gets the request as the contract has it, below its base', async () => {
    const { adapter, got } = await bridge(json(200, MARGIN));
    expect(await adapter.queryMargin(QUESTION, never())).toEqual({
      outcome: 'answered',
      earningsCentavos: 500_000,
      marginCentavos: -125,
    });
    const [request] = got;
    expect(request).toMatchObject({ method: 'POST', url: '/base/margens' });
    expect(request?.headers).toMatchObject({ 'x-request-id': 'req-1', 'content-type': 'application/json' });
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      consulta_margem_id: ID,
      parceiro_id: ID,
      cpf: '52998224725',
      cnpj_empregador: '11222333000181',
    });
  });

  test('gets a registration under its key, in reais', async () => {
    const { adapter, got } = await bridge(json(200, { protocolo_registry: 'P-1', extra: 1 }));
    expect(await adapter.register(LOAN, never())).toEqual({ outcome: 'concluded', protocol: 'P-1' });
    expect(got[0]?.headers).toMatchObject({
      'idempotency-key': ID,
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(JSON.parse(got[0]?.body ?? '')).toEqual({
      averbacao_id: ID,
      emprestimo_id: ID,
      numero_emprestimo: '2026-00000001',
      cpf_trabalhador: '52998224725',
      matricula: 'M-1',
      cnpj_empregador: '11222333000181',
      valor_liberado: 1234.5,
      numero_parcelas: 12,
      valor_parcela: 120.05,
    });
  });

  test.each([
    [undefined, 2_000],
    ['7', 7_000],
    ['0', 1_000],
    ['9999', 300_000],
    ['soon', 2_000],
  ])('that works on it says when to ask again (Retry-After %s)', async (after, askAgainMs) => {
    const { adapter } = await bridge((response) =>
      response.writeHead(202, after === undefined ? {} : { 'Retry-After': after }).end(),
    );
    expect(await adapter.register(LOAN, never())).toEqual({ outcome: 'pending', askAgainMs });
    expect(await adapter.lookUp(LOAN, never())).toEqual({ outcome: 'pending', askAgainMs });
  });

  test('says with 404 that it was never asked', async () => {
    const { adapter, got } = await bridge(json(404, {}));
    expect(await adapter.lookUp(LOAN, never())).toBeNull();
    expect(got[0]).toMatchObject({ method: 'GET', url: `/base/averbacoes/${ID}` });
  });

  test('refuses with words for the partner, which are cut and cleaned', async () => {
    const { adapter } = await bridge(json(422, { erro: ` a\u0000\nb ${'x'.repeat(600)}` }));
    const refused = await adapter.queryMargin(QUESTION, never());
    expect(refused).toMatchObject({ outcome: 'refused', error: expect.stringMatching(/^a bx*|^a b x+$/) });
    expect('error' in refused && refused.error.length).toBe(500);
  });

  test('may say with 503 why it cannot answer', async () => {
    const { adapter } = await bridge(json(503, { erro: 'manutenção' }));
    expect((await failureOf(adapter.queryMargin(QUESTION, never()))).reported).toBe('manutenção');
  });

  test('lists bonds by cursor', async () => {
    const item = (referencia: string) => ({
      referencia,
      parceiro_id: ID,
      emprestimo_id: ID.toUpperCase(),
      data_desligamento: '2026-01-31',
      motivo_desligamento: { codigo: '02', descricao: 'Sem justa causa' },
    });
    const { adapter, got } = await bridge((response, _, count) =>
      json(200, { itens: [item(`r${count}`)], proximo_cursor: count < 3 ? `c${count}` : null })(response),
    );
    const references = [];
    for await (const page of adapter.endedBonds({ ...WINDOW, partnerId: ID }, never())) references.push(...page);
    expect(references.map(({ reference, loanId }) => [reference, loanId])).toEqual([
      ['r1', ID],
      ['r2', ID],
      ['r3', ID],
    ]);
    const queries = got.map(({ url }) => new URL(url ?? '', 'http://x').searchParams);
    expect(queries.map((query) => query.get('cursor'))).toEqual([null, 'c1', 'c2']);
    expect(Object.fromEntries(queries[2] ?? [])).toMatchObject({
      desde: '1970-01-01T00:00:00.000Z',
      ate: '1970-01-01T00:00:01.000Z',
      parceiro_id: ID,
    });
  });
});

describe('a margin that cannot be one is a failure of the registry, and says the rule', () => {
  const INVALID = 'o registry deu uma resposta inválida';
  test.each([
    ['HTML', raw(200, '<html>Login</html>'), 'POST /margens: answered 200 with what is not JSON in UTF-8', INVALID],
    [
      'bytes that are no UTF-8',
      (response: ServerResponse) => void response.end(Buffer.from([0x22, 0xff, 0x22])),
      'not JSON in UTF-8',
      INVALID,
    ],
    ['no body', raw(200, ''), 'the body: ', INVALID],
    ['a list', json(200, []), 'the body: ', INVALID],
    ['no margin', json(200, { valor_total_vencimentos: 1 }), 'valor_margem_disponivel: ', INVALID],
    ['text for money', json(200, { ...MARGIN, valor_total_vencimentos: '5000' }), 'valor_total_vencimentos: ', INVALID],
    [
      'a fraction of a centavo',
      json(200, { ...MARGIN, valor_margem_disponivel: 1.005 }),
      'tem no máximo duas casas',
      INVALID,
    ],
    ['earnings below zero', json(200, { ...MARGIN, valor_total_vencimentos: -1 }), 'não pode ser negativo', INVALID],
    [
      'an amount too large for the wire',
      json(200, { ...MARGIN, valor_total_vencimentos: 1e10 }),
      'valor alto demais',
      INVALID,
    ],
    ['a refusal without erro', json(422, { error: 'no' }), 'answered 422, but erro: ', INVALID],
    ['another 2xx', json(201, MARGIN), 'POST /margens: answered 201', 'o registry respondeu 201'],
    ['a fault', json(500, { erro: 'stack' }), 'POST /margens: answered 500', 'o registry respondeu 500'],
    [
      'a redirect',
      json(307, {}, { Location: 'http://127.0.0.1:1/' }),
      'POST /margens: answered 307',
      'o registry respondeu 307',
    ],
  ])('%s', async (_, answer, message, reported) => {
    const { adapter, got } = await bridge(answer);
    const failure = await failureOf(adapter.queryMargin(QUESTION, never()));
    expect(failure.message).toContain(message);
    expect(failure.message).not.toMatch(/Login|stack|5000/);
    expect(failure.reported).toBe(reported);
    expect(got).toHaveLength(1);
  });

  test('10 MB: it reads 256 KiB and hangs up', async () => {
    let sent = 0;
    const { adapter } = await bridge((response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const chunk = Buffer.alloc(65_536, 0x20);
      const write = (): void => {
        while (sent < 160 && !response.destroyed) {
          sent += 1;
          if (!response.write(chunk)) {
            response.once('drain', write);
            return;
          }
        }
        response.end('{}');
      };
      write();
    });
    const failure = await failureOf(adapter.queryMargin(QUESTION, never()));
    expect(failure).toEqual({
      message: 'POST /margens: more than 256 KiB',
      reported: 'o registry deu uma resposta inválida',
    });
    expect(sent).toBeLessThan(160);
  });

  test('a body of 256 KiB is read', async () => {
    const text = JSON.stringify(MARGIN).padEnd(256 * 1024, ' ');
    const { adapter } = await bridge(raw(200, text));
    expect(await adapter.queryMargin(QUESTION, never())).toMatchObject({ outcome: 'answered' });
  });
});

describe('a registration stays open', () => {
  test.each([
    ['without a protocol', json(200, {}), 'protocolo_registry: '],
    ['with an empty one', json(200, { protocolo_registry: ' ' }), 'não pode ser vazio'],
    ['with one of 201 characters', json(200, { protocolo_registry: 'x'.repeat(201) }), 'tem no máximo 200 caracteres'],
    ['with half of a surrogate pair', json(200, { protocolo_registry: '\ud83d' }), 'metade de um par'],
    ['with a page of HTML', raw(200, '<html>'), 'not JSON'],
    ['with a page of HTML that says 202', raw(202, '<html>'), 'not JSON'],
    ['with 409', json(409, { erro: 'x' }), 'answered 409'],
    ['with 404 to a POST', json(404, {}), 'answered 404'],
  ])('%s', async (_, answer, message) => {
    const { adapter } = await bridge(answer);
    expect((await failureOf(adapter.register(LOAN, never()))).message).toContain(message);
  });

  test('when the connection breaks in the answer, or nobody listens', async () => {
    const { adapter } = await bridge((response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{"protocolo');
      setImmediate(() => response.destroy());
    });
    expect((await failureOf(adapter.register(LOAN, never()))).message).toMatch(/^POST \/averbacoes: no answer \(/);
    const away = createAdapter({ ...REGISTRY_SETTINGS, url: 'http://127.0.0.1:1' });
    endOf(() => away.close());
    expect((await failureOf(away.register(LOAN, never()))).message).toBe('POST /averbacoes: no answer (ECONNREFUSED)');
  });
});

test('silence, and a byte now and then, end at the deadline; the connection is closed', async () => {
  const closed: Promise<unknown>[] = [];
  const { adapter } = await bridge((response, _, count) => {
    closed.push(once(response, 'close'));
    if (count === 1) return;
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 5);
    response.once('close', () => clearInterval(drip));
  });
  const gate = new RegistryGate({ slots: 2, timeoutMs: 150 });
  const registry = behindGate(adapter, gate);
  const both = await Promise.all([
    failureOf(registry.queryMargin(QUESTION, never())),
    failureOf(registry.queryMargin(QUESTION, never())),
  ]);
  for (const { message } of both) expect(message).toBe('no answer from the registry in 150 ms');
  await Promise.all(closed);
  expect(closed).toHaveLength(2);
});

describe('a list of bonds', () => {
  const list = async (answer: Parameters<typeof bridge>[0]) => {
    const { adapter, got } = await bridge(answer);
    const walk = async () => {
      for await (const page of adapter.newBonds(WINDOW, never())) expect(page).toEqual([]);
    };
    const failure = await failureOf(walk());
    return { ...failure, asked: got.length };
  };

  test('whose cursor comes again ends there', async () => {
    const { message, asked } = await list(json(200, { itens: [], proximo_cursor: 'c' }));
    expect([message, asked]).toEqual([
      'GET /vinculos/novos: proximo_cursor came again, so the list would never end',
      2,
    ]);
  });

  test('with ever new cursors ends after a thousand pages', async () => {
    let count = 0;
    const { message, asked } = await list((response) =>
      json(200, { itens: [], proximo_cursor: `c${(count += 1)}` })(response),
    );
    expect([message, asked]).toEqual(['GET /vinculos/novos: more than 1000 pages', 1_001]);
  });

  test.each([
    ['the connection ends', (response: ServerResponse) => void response.destroy()],
    ['the bridge is away', json(503, { erro: 'em manutenção' })],
  ])('whose page fails because %s is asked for that page again, and goes on', async (_, fail) => {
    const { adapter, got } = await bridge((response, { url = '' }, count) => {
      if (count === 2) return fail(response);
      return json(200, { itens: [], proximo_cursor: url.includes('cursor=') ? null : 'c' })(response);
    });
    let pages = 0;
    for await (const page of adapter.newBonds(WINDOW, never())) pages += page.length === 0 ? 1 : 0;
    expect([pages, got.map(({ url }) => url?.includes('cursor=c'))]).toEqual([2, [false, true, true]]);
  });

  test('is not asked again for a page of the wrong shape, and three times at most', async () => {
    expect((await list(json(200, '<html>'))).asked).toBe(1);
    expect((await list(json(503, {}))).asked).toBe(3);
  });

  test.each([
    ['more than 1,000 records', { itens: Array.from({ length: 1_001 }, () => ({})), proximo_cursor: null }, 'itens'],
    ['no cursor', { itens: [] }, 'proximo_cursor: '],
    ['no list', { itens: {}, proximo_cursor: null }, 'itens: '],
  ])('of %s is refused', async (_, body, message) => {
    expect((await list(json(200, body))).message).toContain(message);
  });

  test('with misshapen records has the others, and names each: field and rule, no value', async () => {
    const item = {
      referencia: 'r',
      parceiro_id: ID,
      emprestimo_id: ID,
      data_admissao: '2026-01-31',
      novo_empregador: { cnpj: '11444777000161', nome: 'Nova' },
      margem_disponivel: 1,
    };
    const broken = { ...item, novo_empregador: { ...item.novo_empregador, nome: 'Nova \udfff' } };
    const itens = [{ parceiro_id: ID }, item, null, { ...item, data_admissao: '52998224725' }, broken];
    const { adapter } = await bridge(json(200, { itens, proximo_cursor: null }));
    const [references, rules]: [string[], string[]] = [[], []];
    const query = { ...WINDOW, onMisshapen: (rule: string) => void rules.push(rule) };
    for await (const page of adapter.newBonds(query, never()))
      references.push(...page.map(({ reference }) => reference));
    expect(references).toEqual(['r']);
    expect(rules.map((rule) => rule.split(': ', 2).join(': '))).toEqual([
      'GET /vinculos/novos: itens.0.referencia',
      'GET /vinculos/novos: itens.2',
      'GET /vinculos/novos: itens.3.data_admissao',
      'GET /vinculos/novos: itens.4.novo_empregador.nome',
    ]);
    expect(rules.join()).not.toContain('52998224725');
  });
});

describe('credentials', () => {
  test('the token is read again when its file changes; without it nothing is asked', async () => {
    const tokenFile = join((await makeTestFolder()).path, 'token');
    const { adapter, got } = await bridge(json(200, MARGIN), { tokenFile });
    expect((await failureOf(adapter.queryMargin(QUESTION, never()))).message).toMatch(
      /token cannot be read \(ENOENT\)$/,
    );
    for (const token of ['first', 'second']) {
      await writeFile(`${tokenFile}.new`, `${token}\n`);
      await rename(`${tokenFile}.new`, tokenFile);
      await adapter.queryMargin(QUESTION, never());
    }
    await writeFile(tokenFile, 'two\nlines\n');
    const { message } = await failureOf(adapter.queryMargin(QUESTION, never()));
    expect(message).toContain('REGISTRY_TOKEN_FILE holds no token');
    expect(message).not.toContain('lines');
    expect(got.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
  });

  test('a private authority and our certificate are used; without them there is no answer', async () => {
    const [authority, { path: folder }] = [makeAuthority(), await makeTestFolder()];
    const [identity, client] = [authority.issue(['127.0.0.1']), authority.issue(['carteiro'])];
    const server = createTlsServer(
      { ...identity, ca: authority.ca, requestCert: true, rejectUnauthorized: true },
      (_request, response) => json(200, MARGIN)(response),
    );
    const file = async (name: string, text: string) => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };
    const url = `https://127.0.0.1:${await listening(server)}`;
    const [caFile, certFile, keyFile] = [
      await file('ca', authority.ca),
      await file('cert', client.cert),
      await file('key', client.key),
    ];
    const ask = async (more: Partial<RegistrySettings>) => {
      const adapter = createAdapter({ ...REGISTRY_SETTINGS, url, ...more });
      endOf(() => adapter.close());
      return adapter.queryMargin(QUESTION, never());
    };
    expect(await ask({ caFile, certFile, keyFile })).toMatchObject({ outcome: 'answered' });
    expect((await failureOf(ask({ certFile, keyFile }))).message).toContain('no answer (');
    expect((await failureOf(ask({ caFile }))).message).toContain('no answer (');
  });
});
