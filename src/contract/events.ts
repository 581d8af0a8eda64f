/**
 * The one event table: every type the log may hold and every name a partner may meet.
 * `emitted` events are delivered, `internal` ones are facts of the log that are never delivered,
 * `notice`s tell a partner about its own webhooks, `reserved` names exist in the catalog and are never emitted (contract,
 * "Guarantee matrix").
 */
import type { z } from 'zod';
import * as payload from './payloads.ts';

type Guarantee = 'guaranteed' | 'conditional';

/** When the event fires (contract, "Catalog" and "Guarantee matrix"), in the words of the description. */
interface Meaning {
  /** One line, read in a list beside the event's name. */
  readonly summary: string;
  readonly more?: string;
}

function emitted<S extends z.ZodType>(guarantee: Guarantee, data: S, meaning: Meaning) {
  return { kind: 'emitted', guarantee, data, meaning } as const;
}

function internal<S extends z.ZodType>(data: S) {
  return { kind: 'internal', data } as const;
}

/**
 * What the service tells a partner about its webhooks. A webhook may subscribe to it, but nobody appends it: it is no fact of
 * the credit flow, so the balance does not count it and nothing is folded from it.
 */
function notice<S extends z.ZodType>(data: S, meaning: Meaning) {
  return { kind: 'notice', guarantee: 'conditional', data, meaning } as const;
}

const reserved = { kind: 'reserved' } as const;

export const EVENTS = {
  'autorizacao.confirmada': emitted('guaranteed', payload.authorizationConfirmed, {
    summary: 'O trabalhador aceitou a autorização de consulta',
  }),
  'margem.concluida': emitted('conditional', payload.marginConcluded, {
    summary: 'Uma consulta de margem chegou ao registry e terminou bem',
    more: 'Não é emitido quando a resposta vem do cache, e não confirma a consulta do próprio parceiro, cuja resposta 200 já é a confirmação.',
  }),
  'margem.falhou': emitted('guaranteed', payload.marginFailed, {
    summary: 'Uma consulta de margem falhou no registry',
  }),
  'emprestimo.emitido': emitted('conditional', payload.loanIssued, {
    summary: 'Uma emissão respondida com 202 terminou',
    more: '`numero` é o definitivo.',
  }),
  'emprestimo.emissao_falhou': emitted('conditional', payload.issuanceFailed, {
    summary: 'Uma emissão respondida com 202 foi abandonada',
    more: 'O empréstimo está cancelado e pode ser emitido de novo com outra Idempotency-Key.',
  }),
  'assinatura.concluida': emitted('guaranteed', payload.signingConcluded, {
    summary: 'A assinatura terminou',
    more: 'Com assinatura externa, o pacote assinado completo foi recebido e arquivado.',
  }),
  'assinatura.pendente': emitted('conditional', payload.signingPending, {
    summary: 'O empréstimo passou a aguardando_averbacao com o pacote assinado incompleto',
    more: 'Só na entrega diferida.',
  }),
  'docs_registry.pendente': emitted('conditional', payload.documentsPending, {
    summary: 'A averbação abriu a obrigação de entregar documentos, com prazo',
    more: 'Só na entrega diferida.',
  }),
  'docs_registry.recebido': emitted('conditional', payload.documentsReceived, {
    summary: 'Os documentos foram recebidos',
    more: 'Só na entrega diferida.',
  }),
  'averbacao.concluida': emitted('guaranteed', payload.registrationConcluded, {
    summary: 'A averbação foi gravada no registry',
  }),
  'averbacao.falhou': emitted('guaranteed', payload.registrationFailed, {
    summary: 'A averbação falhou; pode ser pedida de novo',
  }),
  'desembolso.liquidado': emitted('guaranteed', payload.disbursementSettled, {
    summary: 'A transferência foi liquidada',
  }),
  'desembolso.falhou': emitted('guaranteed', payload.disbursementFailed, {
    summary: 'A transferência falhou',
  }),
  'trabalhador.desligado': emitted('guaranteed', payload.bondEnded, {
    summary: 'Terminou o vínculo de um trabalhador com empréstimo',
    more: 'A sincronização noturna detectou, pela primeira vez, o fim do vínculo; o empréstimo foi encerrado.',
  }),
  'trabalhador.vinculo_novo': emitted('guaranteed', payload.newBond, {
    summary: 'Foi recontratado um trabalhador cujo empréstimo tinha sido encerrado por desligamento',
    more: 'A sincronização noturna detectou a recontratação pela primeira vez.',
  }),
  'repasse.processado': emitted('guaranteed', payload.settlementProcessed, {
    summary: 'O repasse do mês foi fechado e consolidado',
    more: 'Conta também as parcelas de meses que tinham fechado antes do desembolso do empréstimo.',
  }),
  'webhook.falhando': notice(payload.webhookFailing, {
    summary: 'Outro webhook do parceiro falha há horas',
    more: 'Só onde o operador ligou a política de falhas. O webhook recebe uma entrega por vez até responder bem. Ele mesmo não recebe este aviso.',
  }),
  'webhook.suspenso': notice(payload.webhookSuspended, {
    summary: 'Outro webhook do parceiro foi desativado pelo serviço, porque falhava há dias',
    more: 'Só onde o operador ligou a política de falhas. O que estava pendente ficou `suspensa`, e é retomado ao reativar o webhook.',
  }),
  'repasse.pago': reserved,
  'autorizacao.expirada': reserved,
  'emprestimo.contratado': internal(payload.loanContracted),
  'emprestimo.solicitado': internal(payload.loanContracted),
  'averbacao.solicitada': internal(payload.registrationRequested),
  'documento.recebido': internal(payload.documentReceived),
} as const;

type Table = typeof EVENTS;
type NamesOfKind<K> = { [N in keyof Table]: Table[N]['kind'] extends K ? N : never }[keyof Table];

/** The sixteen names of the contract, which the core emits. */
export type EmittedName = NamesOfKind<'emitted'>;
/** Every fact that the log may hold. */
export type EventType = NamesOfKind<'emitted' | 'internal'>;
/** What the service itself tells a partner. */
export type NoticeName = NamesOfKind<'notice'>;
export type SubscribableName = EmittedName | NoticeName;
export type EventData<T extends EventType | NoticeName> = z.infer<Table[T]['data']>;
/** An event's type and data, before it is appended to the log. */
export type Fact = { [T in EventType]: { readonly type: T; readonly data: EventData<T> } }[EventType];

function namesOfKind<K extends Table[keyof Table]['kind']>(kind: K): NamesOfKind<K>[] {
  return (Object.keys(EVENTS) as (keyof Table)[]).filter((name): name is NamesOfKind<K> => EVENTS[name].kind === kind);
}

export const EMITTED_NAMES = namesOfKind('emitted');
export const NOTICE_NAMES = namesOfKind('notice');
/** The names a partner can subscribe to. */
export const SUBSCRIBABLE_NAMES: readonly SubscribableName[] = [...EMITTED_NAMES, ...NOTICE_NAMES];
export const RESERVED_NAMES = namesOfKind('reserved');
const INTERNAL_TYPES = namesOfKind('internal');
export const EVENT_TYPES: readonly EventType[] = [...EMITTED_NAMES, ...INTERNAL_TYPES];
