/**
 * The registry over HTTP: the client of the bridge that a lender writes ([README](README.md), contract/registry-wire.ts). An answer unknown
 * to the contract is a failure, whatever its status: a wrong shape must neither end a registration nor reach a partner as a margin.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import {
  bondPage,
  endedBond,
  errorReported,
  marginReported,
  MAX_ERROR_LENGTH,
  rehiredBond,
  registrationReported,
  RETRY_AFTER_S,
} from '../contract/registry-wire.ts';
import { toCentavos, toReais } from '../contract/values.ts';
import type { BondQuery, EndedBond, NewBond } from './bonds-port.ts';
import type { RegistrySettings } from '../settings/outside-settings.ts';
import { Credentials } from './credentials.ts';
import { type Answer, exchange, type Exchange, ruleOf, shaped } from './exchange.ts';
import { type EmploymentRegistry, type Pending, type RegistrationAnswer, RegistryFailure } from './port.ts';

const PAGE_PAUSES_MS = [250, 1_000];
/** Of one list: a bridge with ever new cursors would block the job and those behind it. A page has up to 1,000 records. */
const MAX_PAGES = 1_000;
/** Statuses after which a page is asked for again: too many requests, or a gateway's fault. */
const AWAY = new Set([429, 502, 503, 504]);

export interface RegistryAdapter extends EmploymentRegistry {
  /** Resolves when the registry is in service. */
  probe(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export function createAdapter(settings: RegistrySettings): RegistryAdapter {
  const credentials = new Credentials(settings);
  const ask = (asked: Exchange, signal: AbortSignal) => exchange(settings.url, credentials, asked, signal);

  return {
    async probe(signal) {
      const answer = await ask({ method: 'GET', path: '/saude', requestId: null }, signal);
      if (answer.status < 200 || answer.status > 299) throw unexpected(answer);
    },

    async queryMargin({ queryId, partnerId, workerCpf, employerCnpj, requestId }, signal) {
      const body = {
        consulta_margem_id: queryId,
        parceiro_id: partnerId,
        cpf: workerCpf,
        cnpj_empregador: employerCnpj,
      };
      const answer = await ask({ method: 'POST', path: '/margens', body, requestId }, signal);
      if (answer.status === 422) return { outcome: 'refused', error: textOf(shaped(answer, errorReported).erro) };
      if (answer.status !== 200) throw unexpected(answer);
      const reported = shaped(answer, marginReported);
      const [earnings, margin] = [reported.valor_total_vencimentos, reported.valor_margem_disponivel];
      return { outcome: 'answered', earningsCentavos: toCentavos(earnings), marginCentavos: toCentavos(margin) };
    },

    async register({ registrationId, requestId, loan }, signal) {
      const body = {
        averbacao_id: registrationId,
        emprestimo_id: loan.id,
        numero_emprestimo: loan.number,
        cpf_trabalhador: loan.workerCpf,
        matricula: loan.workerEnrollment,
        cnpj_empregador: loan.employerCnpj,
        valor_liberado: toReais(loan.releasedCentavos),
        numero_parcelas: loan.installments,
        valor_parcela: toReais(loan.installmentCentavos),
      };
      const asked = { method: 'POST', path: '/averbacoes', body, idempotencyKey: registrationId, requestId } as const;
      return registrationOf(await ask(asked, signal));
    },

    async lookUp({ registrationId, requestId }, signal) {
      const answer = await ask({ method: 'GET', path: `/averbacoes/${registrationId}`, requestId }, signal);
      return answer.status === 404 ? null : registrationOf(answer);
    },

    endedBonds: (query, signal) => pages(ask, '/vinculos/desligamentos', query, signal, endedBond, endedOf),
    newBonds: (query, signal) => pages(ask, '/vinculos/novos', query, signal, rehiredBond, newOf),
    close: () => credentials.close(),
  };
}

function registrationOf(answer: Answer): RegistrationAnswer | Pending {
  if (answer.status === 200)
    return { outcome: 'concluded', protocol: shaped(answer, registrationReported).protocolo_registry };
  if (answer.status === 422) return { outcome: 'failed', error: textOf(shaped(answer, errorReported).erro) };
  if (answer.status === 202) return { outcome: 'pending', askAgainMs: retryAfterMs(answer.headers['retry-after']) };
  throw unexpected(answer);
}

/** The wait before a pending registration is looked up. */
export function retryAfterMs(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : RETRY_AFTER_S.default;
  return Math.min(Math.max(seconds, RETRY_AFTER_S.least), RETRY_AFTER_S.most) * 1_000;
}

function unexpected({ of, status, body }: Answer): RegistryFailure {
  const { data } = errorReported.safeParse(status === 503 ? body : null);
  const reported = data === undefined ? `o registry respondeu ${status}` : textOf(data.erro);
  return new RegistryFailure(`${of}: answered ${status}`, { reported });
}

/** A foreign text, made fit for database and wire. */
function textOf(error: string): string {
  const text = error
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  return text === '' ? 'sem explicação do registry' : text.slice(0, MAX_ERROR_LENGTH).toWellFormed();
}

async function* pages<T, B>(
  ask: (asked: Exchange, signal: AbortSignal) => Promise<Answer>,
  path: string,
  { partnerId, from, until, onMisshapen }: BondQuery,
  signal: AbortSignal,
  schema: z.ZodType<T>,
  recordOf: (item: T) => B,
): AsyncGenerator<readonly B[]> {
  const query = new URLSearchParams({ desde: from.toISOString(), ate: until.toISOString() });
  if (partnerId !== null) query.set('parceiro_id', partnerId);
  const seen = new Set<string>();
  for (;;) {
    const asked = { method: 'GET', path: `${path}?${query.toString()}`, requestId: null } as const;
    const answer = await again(() => ask(asked, signal), signal);
    if (answer.status !== 200) throw unexpected(answer);
    const { itens, proximo_cursor: cursor } = shaped(answer, bondPage);
    yield itens.flatMap((item, place) => {
      const read = schema.safeParse(item);
      if (read.success) return [recordOf(read.data)];
      onMisshapen(`${answer.of}: ${ruleOf(read.error, ['itens', place])}`);
      return [];
    });
    if (cursor === null) return;
    if (seen.size >= MAX_PAGES) throw new RegistryFailure(`${answer.of}: more than ${MAX_PAGES} pages`);
    if (seen.has(cursor))
      throw new RegistryFailure(`${answer.of}: proximo_cursor came again, so the list would never end`);
    seen.add(cursor);
    query.set('cursor', cursor);
  }
}

/** A page's answer, repeated after no answer or a passing fault of the bridge: one lost page would end the whole list. */
async function again(ask: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (const pauseMs of PAGE_PAUSES_MS) {
    try {
      const answer = await ask();
      if (!AWAY.has(answer.status)) return answer;
    } catch (error) {
      const isUnanswered = error instanceof RegistryFailure && error.cause !== undefined;
      if (!isUnanswered || signal.aborted) throw error;
    }
    await sleep(pauseMs, undefined, { signal });
  }
  return ask();
}

const reported = (item: { referencia: string; parceiro_id: string; emprestimo_id: string }) => ({
  reference: item.referencia,
  partnerId: item.parceiro_id.toLowerCase(),
  loanId: item.emprestimo_id.toLowerCase(),
});

function endedOf(item: z.output<typeof endedBond>): EndedBond {
  return { ...reported(item), data: { on: item.data_desligamento, reason: item.motivo_desligamento } };
}

function newOf(item: z.output<typeof rehiredBond>): NewBond {
  const availableMarginCentavos = toCentavos(item.margem_disponivel);
  return {
    ...reported(item),
    data: { on: item.data_admissao, employer: item.novo_empregador, availableMarginCentavos },
  };
}
