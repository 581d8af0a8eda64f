/** The simulated registry as an HTTP service, as a lender's bridge is; for the sandbox, `registry serve` and tests. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { bondQuery, marginAsked, registrationAsked } from '../contract/registry-wire.ts';
import { id as uuid, toReais } from '../contract/values.ts';
import type { Pool } from '../db/pool.ts';
import type { EndedBond, NewBond } from './bonds-port.ts';
import type { Pending, RegistrationAnswer } from './port.ts';
import { readSimulatedBonds } from './simulated-bonds.ts';
import { answerMargin } from './simulated-margin.ts';
import { readSimulated, simulateRegistration } from './simulated.ts';

const MAX_BODY_BYTES = 64 * 1024;

export interface SimulatedOptions {
  /** Calls without it are 401; null: no token is needed. */
  readonly token: string | null;
  /** How long it works on a registration, answering 202. */
  readonly workS: number;
}

export function createSimulatedService(pool: Pool, { token, workS }: SimulatedOptions): Hono {
  const app = new Hono();
  app.onError((_, c) => refuse(c, 503, 'o registry simulado não alcança o seu banco de dados'));
  app.notFound((c) => refuse(c, 404, 'rota não encontrada'));
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => refuse(c, 413, 'o corpo é grande demais') }));
  app.use(async (c, next) =>
    token === null || isSame(c.req.header('authorization') ?? '', `Bearer ${token}`)
      ? next()
      : refuse(c, 401, 'o token não é o deste serviço'),
  );
  addRegistrations(app, pool, workS);
  addBonds(app, pool);
  app.get('/saude', async (c) => {
    await pool.run((sql) => sql`select from simulated_answers limit 1`);
    return c.json({ status: 'ok' });
  });
  app.post('/margens', async (c) => {
    const sent = marginAsked.safeParse(await bodyOf(c));
    if (!sent.success) return mismatch(c, sent.error);
    const { parceiro_id: partnerId, cpf: workerCpf, cnpj_empregador: employerCnpj } = sent.data;
    const answer = await pool.run((sql) => answerMargin(sql, { partnerId, workerCpf, employerCnpj }));
    if (answer.outcome !== 'answered') return refuse(c, answer.outcome === 'refused' ? 422 : 503, answer.error);
    const [earnings, margin] = [toReais(answer.earningsCentavos), toReais(answer.marginCentavos)];
    return c.json({ valor_total_vencimentos: earnings, valor_margem_disponivel: margin });
  });
  return app;
}

function addRegistrations(app: Hono, pool: Pool, workS: number): void {
  app.post('/averbacoes', async (c) => {
    const sent = registrationAsked.safeParse(await bodyOf(c));
    if (!sent.success) return mismatch(c, sent.error);
    const { averbacao_id: registrationId, emprestimo_id: loanId } = sent.data;
    if (c.req.header('idempotency-key') !== registrationId)
      return refuse(c, 400, 'Idempotency-Key deve ser o averbacao_id');
    return report(c, await pool.transaction((tx) => simulateRegistration(tx, { registrationId, loanId }, workS)));
  });
  app.get('/averbacoes/:id', async (c) => {
    const id = c.req.param('id');
    const known = uuid.safeParse(id).success ? await pool.run((sql) => readSimulated(sql, id)) : null;
    return known === null ? refuse(c, 404, 'esta averbação nunca foi pedida') : report(c, known);
  });
}

function report(c: Context, answer: RegistrationAnswer | Pending): Response {
  if (answer.outcome === 'failed') return refuse(c, 422, answer.error);
  if (answer.outcome === 'concluded') return c.json({ protocolo_registry: answer.protocol });
  return c.body(null, 202, { 'Retry-After': String(Math.max(1, Math.ceil(answer.askAgainMs / 1_000))) });
}

function addBonds(app: Hono, pool: Pool): void {
  type Bond = EndedBond | NewBond;
  const list = (path: string, kind: 'ended' | 'new', itemOf: (bond: Bond) => object) =>
    app.get(path, async (c) => {
      const query = bondQuery.safeParse(c.req.query());
      if (!query.success) return mismatch(c, query.error);
      const { desde, ate, parceiro_id: partnerId = null, cursor } = query.data;
      if (cursor !== undefined && !uuid.safeParse(cursor).success)
        return refuse(c, 400, 'cursor: deve ser o proximo_cursor de uma resposta');
      const window = { partnerId, from: new Date(desde), until: new Date(ate) };
      const { records, next } = await pool.run((sql) => readSimulatedBonds<Bond>(sql, kind, window, cursor));
      return c.json({ itens: records.map(itemOf), proximo_cursor: next });
    });
  const reported = ({ reference, partnerId, loanId }: Bond) => ({
    referencia: reference,
    parceiro_id: partnerId,
    emprestimo_id: loanId,
  });
  list('/vinculos/desligamentos', 'ended', (bond) => {
    const { on, reason } = (bond as EndedBond).data;
    return { ...reported(bond), data_desligamento: on, motivo_desligamento: reason };
  });
  list('/vinculos/novos', 'new', (bond) => {
    const { on, employer, availableMarginCentavos } = (bond as NewBond).data;
    const margin = toReais(availableMarginCentavos);
    return { ...reported(bond), data_admissao: on, novo_empregador: employer, margem_disponivel: margin };
  });
}

async function bodyOf(c: Context): Promise<unknown> {
  return c.req.json().catch(() => undefined);
}

function mismatch(c: Context, { issues: [issue] }: z.ZodError): Response {
  return refuse(c, 400, `${issue?.path.join('.') || 'corpo'}: ${issue?.message ?? 'não é o esperado'}`);
}

function refuse(c: Context, status: 400 | 401 | 404 | 413 | 422 | 503, erro: string): Response {
  return c.json({ erro }, status);
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
