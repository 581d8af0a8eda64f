/** Partners that walk a loan over HTTP and receive its webhooks on a real socket, with every surrounding system simulated. */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import { EMITTED_NAMES, EVENTS, type EmittedName } from '../../src/contract/events.ts';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { registrationWorker } from '../../src/core/loans/registration-worker.ts';
import type { HttpDeps } from '../../src/http/deps.ts';
import { type Account, startApi } from './api.ts';
import { prove, startEngineOf } from './delivery-world.ts';
import type { DescribedAnswers } from './described-answers.ts';
import { endOf } from './ends.ts';
import { type Post, startReceiver } from './receiver.ts';
import { silentLog } from './silent-log.ts';

/** One received delivery, whose signature, headers and fields have been checked. */
export interface ReceivedEvent {
  readonly evento: EmittedName;
  readonly data: Readonly<Record<string, unknown>>;
}

export type TestPartner = Awaited<ReturnType<PartnerWorld['partner']>>;

export type PartnerWorld = Awaited<ReturnType<typeof startPartnerWorld>>;

export const TERMS = {
  cpf_trabalhador: '52998224725',
  nome_trabalhador: 'Maria da Silva',
  matricula: 'M-1',
  cnpj_empregador: '11222333000181',
  valor_liberado: 1234.5,
  numero_parcelas: 12,
  valor_parcela: 120.05,
};

export const EXTERNAL_GROUPED: Account = { signing: 'externa', documents: 'agrupada' };
export const EXTERNAL_DEFERRED: Account = { signing: 'externa', documents: 'diferida' };
/** What such an account's loan emits from its signing to its settled transfer, in the catalog's order. */
export const WHOLE_DEFERRED_LIFE = [
  'assinatura.concluida',
  'assinatura.pendente',
  'docs_registry.pendente',
  'docs_registry.recebido',
  'averbacao.concluida',
  'desembolso.liquidado',
] as const satisfies readonly EmittedName[];

export function namesOf(events: readonly ReceivedEvent[]): string[] {
  return events.map(({ evento }) => evento);
}

export async function startPartnerWorld(overrides: Partial<HttpDeps> = {}) {
  const api = await startApi({ allowInsecure: true, ...overrides });
  const receiver = await startReceiver();
  const { pool } = api.database;
  const engine = startEngineOf(api);
  const worker = registrationWorker({
    ...api.registry,
    pool,
    log: silentLog,
    documentsDeadlineDays: 15,
  });
  const deliver = async () => {
    while ((await engine.poll()) > 0);
  };

  async function partner(account: Account = {}) {
    const id = await api.partner(account);
    const token = await api.token(id, ['emprestimos:read', 'emprestimos:write', 'sandbox', 'webhooks:write']);
    const path = `/${id}`;
    const webhook = { url: `${receiver.url}${path}`, eventos: EMITTED_NAMES };
    const { body } = await api.send<{ id: string; secret: string }>('POST', '/v1/webhooks', { token, body: webhook });
    await prove(pool, body.id);
    let keys = 0;
    const issue = (key = `key-${(keys += 1)}`) =>
      api.send<LoanResource>('POST', '/v1/emprestimos', { token, headers: { 'Idempotency-Key': key }, body: TERMS });
    const post = (to: string, sent?: unknown) =>
      api.send<LoanResource & ErrorBody>('POST', to, { token, ...(sent !== undefined && { body: sent }) });
    /** Sends what must be answered 200 or 202. */
    async function accepted(to: string, sent?: unknown): Promise<LoanResource> {
      const answer = await post(to, sent);
      if (answer.status !== 200 && answer.status !== 202) throw new Error(`${to} was refused: ${answer.text}`);
      return answer.body;
    }
    return {
      id,
      token,
      issue,
      post,
      accepted,
      /** Issues a loan and returns its id. */
      newLoan: async () => (await issue()).body.id,
      read: async (loanId: string) =>
        (await api.send<LoanResource>('GET', `/v1/emprestimos/${loanId}`, { token })).body,
      /** Asks for a registration and has the registry answer it. */
      async register(loanId: string) {
        await accepted(`/v1/emprestimos/${loanId}/averbacao`);
        await worker.tick();
      },
      /** Has the worker see through the registrations that are due. */
      tickWorker: async () => void (await worker.tick()),
      disburse: (loanId: string, sent: unknown = { resultado: 'liquidado' }) =>
        post(`/v1/sandbox/emprestimos/${loanId}/desembolso`, sent),
      /** Delivers what is due; then all that this partner has received so far, in catalog order. */
      async received() {
        await deliver();
        const posts = receiver.posts.filter((one) => one.path === path);
        return posts
          .map((one) => readPost(one, id, body.secret, api.described))
          .toSorted((a, b) => EMITTED_NAMES.indexOf(a.evento) - EMITTED_NAMES.indexOf(b.evento));
      },
    };
  }

  return {
    api,
    receiver,
    /** A partner with one webhook for all emitted events. */
    partner,
    close: endOf(async () => {
      await engine.close();
      await receiver.close();
      await api.close();
    }),
  };
}

/** Holds one POST against the contract: signature, headers, envelope, and every field of the catalog in its order. */
function readPost(
  { headers, body }: Post,
  partnerId: string,
  secret: string,
  described: DescribedAnswers,
): ReceivedEvent {
  expect(headers['x-webhook-signature']).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const envelope = JSON.parse(body.toString()) as ReceivedEvent & { parceiro_id: string };
  expect(Object.keys(envelope)).toEqual(['evento', 'timestamp', 'parceiro_id', 'data']);
  expect(headers['x-webhook-event']).toBe(envelope.evento);
  described.checkWebhook(envelope.evento, headers, envelope);
  expect(envelope.parceiro_id).toBe(partnerId);
  const schema = EVENTS[envelope.evento].data;
  expect(schema.parse(envelope.data)).toEqual(envelope.data);
  expect(Object.keys(envelope.data)).toEqual(Object.keys(schema.shape));
  return envelope;
}
