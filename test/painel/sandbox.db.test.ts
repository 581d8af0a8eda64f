/** The catalogue's examples, and the sandbox: each part played, a loan that walks, and an inbox that misbehaves on demand. */
import { describe, expect, test, vi } from 'vitest';
import { readRuns } from '../../src/conformance/runs.ts';
import { EMITTED_NAMES, EVENTS } from '../../src/contract/events.ts';
import { registrationWorker } from '../../src/core/loans/registration-worker.ts';
import { exampleOf } from '../../src/http/openapi/events.ts';
import { dataFieldsOf } from '../../src/painel/events/parts.ts';
import { ACCOUNT_ACTS, LOAN_ACTS, OTHER_ACTS } from '../../src/painel/sandbox/acts.ts';
import { formTokenIn, startPainelWorld, type Visitor, WRITER } from '../support/painel.ts';
import { silentLog } from '../support/silent-log.ts';

const world = await startPainelWorld();

const PLAYER = [...WRITER, 'emprestimos:write', 'margem:read', 'sandbox'] as const;

async function player(): Promise<{ id: string; visitor: Visitor }> {
  const id = await world.api.partner();
  return { id, visitor: await world.signedIn(id, PLAYER) };
}

test.each(EMITTED_NAMES)('the example of %s is what its schema takes, and its table names every field', (name) => {
  const { data } = exampleOf(name) as { data: Record<string, unknown> };
  expect(EVENTS[name].data.safeParse(data)).toMatchObject({ success: true });
  expect(dataFieldsOf(name).map((field) => field.name)).toEqual(expect.arrayContaining(Object.keys(data)));
});

describe('the sandbox', () => {
  test('has a button for each part, and each one plays it', async () => {
    const { id, visitor } = await player();
    const page = '/painel/sandbox';
    await visitor.submit(page, `${page}/acao`, { acao: 'emprestimo' });
    const [{ stream }] = await world.api.database.sql<
      [{ stream: string }]
    >`select stream from events where partner_id = ${id}`;
    const { text } = await visitor.get(page);
    const token = formTokenIn(text);
    for (const act of Object.keys({ ...LOAN_ACTS, ...ACCOUNT_ACTS, ...OTHER_ACTS }))
      expect(text).toContain(`value="${act}"`);
    const play = async (acao: string, fields = {}) =>
      (await visitor.post(`${page}/acao`, { formulario: token, acao, emprestimo: stream, ...fields })).status;
    expect(await play('assinatura')).toBe(303);
    expect(await play('assinatura')).toBe(409);
    expect(await play('averbacao_falhou')).toBe(303);
    expect(await play('averbar')).toBe(303);
    await answerRegistrations();
    expect(await play('averbacao_concluida')).toBe(303);
    expect(await play('averbar')).toBe(303);
    await answerRegistrations();
    for (const act of ['desembolso_falhou', 'desembolso_liquidado', 'desligamento', 'sincronizacao', 'vinculo_novo']) {
      expect([act, await play(act)]).toEqual([act, 303]);
    }
    for (const act of ['autorizacao', 'margem_boa', 'margem_consulta', 'sincronizacao', 'tempo']) {
      expect([act, await play(act)]).toEqual([act, 303]);
    }
    expect(await play('margem_falha')).toBe(303);
    expect(await play('margem_consulta')).toBe(502);
    expect(await play('repasse', { competencia: '2025-01' })).toBe(303);
    expect(await play('repasse', { competencia: 'nada' })).toBe(400);
    expect(await play('nada')).toBe(404);
    expect(await play('emissao_emitida')).toBe(409);
  });

  test('walks a loan of an account that signs outside, hands its documents in later and is issued later', async () => {
    const { id, visitor } = await player();
    const page = '/painel/sandbox';
    const play = async (...acts: string[]) => {
      const [loan] = await world.api.database.sql<{ id: string }[]>`
        select id from loans where partner_id = ${id} order by id desc limit 1`;
      for (const acao of acts) {
        const sent = { acao, ...(loan && { emprestimo: loan.id }) };
        expect([acao, (await visitor.submit(page, `${page}/acao`, sent)).status]).toEqual([acao, 303]);
      }
    };
    await play('assinatura_externa', 'documentos_diferida', 'emissao_assincrona', 'emprestimo');
    await play('emissao_emitida', 'documentos_ccb', 'averbar');
    await answerRegistrations();
    await play('documentos_dataprev');
    await play('documentos_agrupada', 'emprestimo');
    await play('emissao_emitida', 'documentos_pacote');
    const reported = await world.api.database.sql<{ type: string }[]>`
      select distinct type from events where partner_id = ${id} and fan_out is not null order by type`;
    expect(reported.map(({ type }) => type)).toEqual([
      'assinatura.concluida',
      'assinatura.pendente',
      'averbacao.concluida',
      'docs_registry.pendente',
      'docs_registry.recebido',
      'emprestimo.emitido',
    ]);
  });

  test("shows its session's token to copy, and no browser keeps the page", async () => {
    const { visitor } = await player();
    const { text, headers } = await visitor.get('/painel/sandbox');
    expect(text).toContain(visitor.cookies.get('carteiro_painel'));
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('walks a whole loan by itself', async () => {
    const { id, visitor } = await player();
    const { headers } = await visitor.submit('/painel/sandbox', '/painel/sandbox/passeio');
    const loanId = /emprestimo=([\w-]{36})/.exec(headers.get('location') ?? '')?.[1] ?? '';
    const read = async () => {
      await answerRegistrations();
      const [row] = await world.api.database.sql<{ status: string }[]>`
        select status from loans where id = ${loanId} and partner_id = ${id}`;
      return row?.status;
    };
    await expect.poll(read, { interval: 100 }).toBe('desembolsada');
    expect((await visitor.get(`/painel/sandbox?emprestimo=${loanId}`)).text).toMatch(
      /state-now[\s\S]{0,300}desembolsada/,
    );
  });

  test('has an inbox that verifies what arrives, and fails when told to', async () => {
    const { id, visitor } = await player();
    const page = '/painel/sandbox';
    for (let pushed = 0; pushed < 2; pushed += 1) await visitor.submit(page, `${page}/caixa`);
    const urls = await world.api.database.sql`select url from webhooks where partner_id = ${id}`;
    expect(urls).toEqual([{ url: `${world.server.url}/painel/caixa/${id}` }]);
    await visitor.submit(page, `${page}/acao`, { acao: 'autorizacao' });
    await world.deliver();
    const { text } = await visitor.get(page);
    expect(text).toContain('assinatura confere');
    expect(text).toContain('autorizacao.confirmada');

    await visitor.submit(page, `${page}/comportamento`, { comportamento: 'falha' });
    await visitor.submit(page, `${page}/acao`, { acao: 'autorizacao' });
    await world.deliver();
    expect((await visitor.get('/painel/entregas')).text).toContain('resposta não 2xx 500');
    for (const [comportamento, status] of [
      ['indisponivel', 503],
      ['redireciona', 302],
      ['html', 200],
      ['derruba', null],
      ['tls', null],
    ] as const) {
      await visitor.submit(page, `${page}/comportamento`, { comportamento });
      await visitor.submit(page, `${page}/acao`, { acao: 'autorizacao' });
      await world.deliver();
      const [{ attempt }] = await world.api.database.sql<[{ attempt: number }]>`
        select status_code as attempt from attempts where partner_id = ${id} order by recorded_at desc, started_at desc limit 1`;
      expect(attempt).toBe(status);
    }
    const outcomes = await world.api.database.sql`
      select outcome from attempts where partner_id = ${id} order by recorded_at desc, started_at desc limit 2`;
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['erro_tls', 'erro_conexao']);
    await visitor.submit(page, `${page}/comportamento`, { comportamento: 'aceita' });
    const [healed] = await world.api.database.sql`select url from webhooks where partner_id = ${id}`;
    expect(healed).toEqual(urls[0]);
    expect((await visitor.submit(page, `${page}/comportamento`, { comportamento: 'nada' })).status).toBe(404);
  });

  test('has an inbox that passes the homologação, keeps nothing of it, and fails it when told to', async () => {
    const { id, visitor } = await player();
    const page = '/painel/sandbox';
    await visitor.submit(page, `${page}/caixa`);
    const [{ webhook }] = await world.api.database.sql<[{ webhook: string }]>`
      select id as webhook from webhooks where partner_id = ${id}`;
    const read = async () => {
      const [run] = await readRuns(world.api.database.pool, id, webhook);
      return run === undefined || run.isAlive ? null : run;
    };
    const tried = async () => {
      await world.api.deps.conformance.start({ partnerId: id, webhookId: webhook, actor: 'x' });
      const { checks } = await vi.waitUntil(read, { timeout: 300_000 });
      return checks.filter(({ verdict }) => verdict !== 'passou').map(({ code, verdict }) => `${code} ${verdict}`);
    };
    // It reads the contract's header, which signs no time.
    expect(await tried()).toEqual(['horario_velho nao_se_aplica']);
    expect((await visitor.get(page)).text).toContain('Nada chegou ainda');
    await visitor.submit(page, `${page}/comportamento`, { comportamento: 'falha' });
    expect(await tried()).toContain('propria falhou');
  });

  test('takes nothing into an inbox that is no delivery of the partner, and marks what nobody signed', async () => {
    const { id, visitor } = await player();
    await visitor.submit('/painel/sandbox', '/painel/sandbox/caixa');
    await visitor.submit('/painel/sandbox', '/painel/sandbox/acao', { acao: 'autorizacao' });
    const [{ delivery }] = await world.api.database.sql<[{ delivery: string }]>`
      select id as delivery from deliveries where partner_id = ${id}`;
    const forged = '{"forjado":"<script>alert(1)</script>"}';
    const post = async (to: string, deliveryId: string, more: Record<string, string> = {}, body = forged) =>
      (
        await fetch(`${world.server.url}/painel/caixa/${to}`, {
          method: 'POST',
          body,
          headers: { 'X-Webhook-Delivery': deliveryId, 'X-Webhook-Signature': 'sha256=00', ...more },
        })
      ).status;
    expect(await post(id, 'nada')).toBe(404);
    expect(await post(await world.api.partner(), delivery)).toBe(404);
    expect(await post('nada', delivery)).toBe(404);
    const unknown = '00000000-0000-7000-8000-000000000001';
    expect(await post(id, unknown)).toBe(404);
    expect(await post(id, delivery)).toBe(401);
    // Large bodies displace each other sooner: the memory of all partners' inboxes is bounded.
    for (const letter of 'abc') await post(id, delivery, {}, letter.repeat(60_000));
    const kept = (await visitor.get('/painel/sandbox')).text;
    expect(['a', 'b', 'c'].map((letter) => kept.includes(letter.repeat(60_000)))).toEqual([false, true, true]);
    // What anybody can write is not held, as a delivery is.
    await visitor.submit('/painel/sandbox', '/painel/sandbox/comportamento', { comportamento: 'trava' });
    const held = post(id, delivery).then(() => 'held');
    expect(await Promise.race([held, post(id, unknown, { 'X-Webhook-Test': '1' })])).toBe(401);
    const { text } = await visitor.get('/painel/sandbox');
    expect(text).toContain('assinatura não confere');
    expect(text).not.toContain('<script>alert');
  });

  test('is no page and no inbox where there is no sandbox', async () => {
    const production = await startPainelWorld({ sandbox: null });
    const partnerId = await production.api.partner();
    const visitor = await production.signedIn(partnerId, PLAYER);
    expect((await visitor.get('/painel/visao')).text).not.toContain('/painel/sandbox');
    expect((await visitor.get('/painel/sandbox')).status).toBe(404);
    expect((await visitor.post(`/painel/caixa/${partnerId}`, {})).status).toBe(404);
  });
});

async function answerRegistrations(): Promise<void> {
  const { pool } = world.api.database;
  const worker = registrationWorker({
    ...world.api.registry,
    pool,
    log: silentLog,
    documentsDeadlineDays: 15,
  });
  while ((await worker.tick()) > 0);
}
