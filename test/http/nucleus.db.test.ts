/** The loan core's door over HTTP: whom it lets in, what a key does, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { startApi } from '../support/api.ts';
import type { ApiDescription } from '../support/description.ts';
import { type PartnerWorld, startPartnerWorld, TERMS } from '../support/partner-world.ts';

let world: PartnerWorld;
let core: string;
beforeAll(async () => {
  world = await startPartnerWorld({ sandbox: null });
  core = await world.api.token(undefined, ['nucleo']);
});
afterAll(() => world.close());

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
  await limited.close();
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

test('the description has the four operations under a tag of their own, with key and refusals', async () => {
  const { paths } = (await (await world.api.app.request('/openapi.json')).json()) as ApiDescription;
  const own = Object.keys(paths).filter((path) => path.startsWith('/v1/nucleo/'));
  expect(own.toSorted()).toEqual([
    AUTHORIZATIONS,
    '/v1/nucleo/emprestimos/{id}/assinatura',
    '/v1/nucleo/emprestimos/{id}/desembolso',
    '/v1/nucleo/emprestimos/{id}/emissao',
  ]);
  for (const path of own) {
    expect(paths[path]?.post).toMatchObject({ tags: ['nucleo'], security: [{ bearer: ['nucleo'] }] });
    expect(paths[path]?.post?.parameters.map(({ name }) => name)).toContain('Idempotency-Key');
  }
});
