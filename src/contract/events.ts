/**
 * The one event table. `emitted` events are delivered, `internal` ones are facts of the log that are never delivered, `notice`s
 * tell a partner about its own webhooks, `reserved` names are never emitted.
 */
import type { z } from 'zod';
import type { Since } from './language.ts';
import * as payload from './payloads.ts';

type Guarantee = 'guaranteed' | 'conditional';

interface Words {
  /** One line, read in a list beside the event's name. */
  readonly summary: string;
  readonly more?: string;
}

/** `pt` is the description's; `en` is of the web page alone. */
interface Meaning {
  readonly pt: Words;
  readonly en: Words;
}

function emitted<S extends z.ZodType>(guarantee: Guarantee, data: S, meaning: Meaning) {
  return { kind: 'emitted', guarantee, data, meaning } as const;
}

function internal<S extends z.ZodType>(data: S) {
  return { kind: 'internal', data } as const;
}

/** What the service tells a partner about its webhooks: subscribable, never appended, so neither counted nor folded. */
function notice<S extends z.ZodType>(since: Since, data: S, meaning: Meaning) {
  return { kind: 'notice', guarantee: 'conditional', since, data, meaning } as const;
}

const reserved = { kind: 'reserved' } as const;

export const EVENTS = {
  'autorizacao.confirmada': emitted('guaranteed', payload.authorizationConfirmed, {
    pt: { summary: 'O trabalhador aceitou a autorização de consulta' },
    en: { summary: 'The worker accepted the authorization' },
  }),
  'margem.concluida': emitted('conditional', payload.marginConcluded, {
    pt: {
      summary: 'Uma consulta de margem chegou ao registry e terminou bem',
      more: 'Não é emitido quando a resposta vem do cache, e não confirma a consulta do próprio parceiro, cuja resposta 200 já é a confirmação.',
    },
    en: {
      summary: 'A margin query reached the registry and ended well',
      more: "It is not emitted when the answer comes from the cache, and it does not confirm the partner's own query, whose answer 200 is the confirmation.",
    },
  }),
  'margem.falhou': emitted('guaranteed', payload.marginFailed, {
    pt: { summary: 'Uma consulta de margem falhou no registry' },
    en: { summary: 'A margin query failed at the registry' },
  }),
  'emprestimo.emitido': emitted('conditional', payload.loanIssued, {
    pt: { summary: 'Uma emissão respondida com 202 terminou', more: '`numero` é o definitivo.' },
    en: { summary: 'An issuance answered with 202 ended', more: '`numero` is the definitive one.' },
  }),
  'emprestimo.emissao_falhou': emitted('conditional', payload.issuanceFailed, {
    pt: {
      summary: 'Uma emissão respondida com 202 foi abandonada',
      more: 'O empréstimo está cancelado e pode ser emitido de novo com outra Idempotency-Key.',
    },
    en: {
      summary: 'An issuance answered with 202 was given up',
      more: 'The loan is cancelled and may be issued again with another Idempotency-Key.',
    },
  }),
  'assinatura.concluida': emitted('guaranteed', payload.signingConcluded, {
    pt: {
      summary: 'A assinatura terminou',
      more: 'Com assinatura externa, o pacote assinado completo foi recebido e arquivado.',
    },
    en: {
      summary: 'The signing ended',
      more: 'With external signing, the complete signed package was received and archived.',
    },
  }),
  'assinatura.pendente': emitted('conditional', payload.signingPending, {
    pt: {
      summary: 'O empréstimo passou a aguardando_averbacao com o pacote assinado incompleto',
      more: 'Só na entrega diferida.',
    },
    en: {
      summary: 'The loan awaits its registration with an incomplete signed package',
      more: 'Only where documents are handed in later (diferida).',
    },
  }),
  'docs_registry.pendente': emitted('conditional', payload.documentsPending, {
    pt: { summary: 'A averbação abriu a obrigação de entregar documentos, com prazo', more: 'Só na entrega diferida.' },
    en: {
      summary: 'The registration opened the obligation to hand in documents',
      more: 'Only where documents are handed in later (diferida).',
    },
  }),
  'docs_registry.recebido': emitted('conditional', payload.documentsReceived, {
    pt: { summary: 'Os documentos foram recebidos', more: 'Só na entrega diferida.' },
    en: { summary: 'The documents were received', more: 'Only where documents are handed in later (diferida).' },
  }),
  'averbacao.concluida': emitted('guaranteed', payload.registrationConcluded, {
    pt: { summary: 'A averbação foi gravada no registry' },
    en: { summary: 'The registration was written at the registry' },
  }),
  'averbacao.falhou': emitted('guaranteed', payload.registrationFailed, {
    pt: { summary: 'A averbação falhou; pode ser pedida de novo' },
    en: { summary: 'The registration failed; it can be asked for again' },
  }),
  'desembolso.liquidado': emitted('guaranteed', payload.disbursementSettled, {
    pt: { summary: 'A transferência foi liquidada' },
    en: { summary: 'The transfer was settled' },
  }),
  'desembolso.falhou': emitted('guaranteed', payload.disbursementFailed, {
    pt: { summary: 'A transferência falhou' },
    en: { summary: 'The transfer failed' },
  }),
  'trabalhador.desligado': emitted('guaranteed', payload.bondEnded, {
    pt: {
      summary: 'Terminou o vínculo de um trabalhador com empréstimo',
      more: 'A sincronização noturna detectou, pela primeira vez, o fim do vínculo; o empréstimo foi encerrado.',
    },
    en: {
      summary: 'The bond of a worker with a loan ended',
      more: 'The nightly sync detected the end of the bond for the first time; the loan was closed.',
    },
  }),
  'trabalhador.vinculo_novo': emitted('guaranteed', payload.newBond, {
    pt: {
      summary: 'Foi recontratado um trabalhador cujo empréstimo tinha sido encerrado por desligamento',
      more: 'A sincronização noturna detectou a recontratação pela primeira vez.',
    },
    en: {
      summary: 'A worker was hired again whose loan the end of a bond had closed',
      more: 'The nightly sync detected the rehire for the first time.',
    },
  }),
  'repasse.processado': emitted('guaranteed', payload.settlementProcessed, {
    pt: {
      summary: 'O repasse do mês foi fechado e consolidado',
      more: 'Conta também as parcelas de meses que tinham fechado antes do desembolso do empréstimo.',
    },
    en: {
      summary: 'The settlement of the month was closed',
      more: "It also counts installments of months that had closed before the loan's disbursement.",
    },
  }),
  'webhook.falhando': notice('0.2', payload.webhookFailing, {
    pt: {
      summary: 'Outro webhook do parceiro falha há horas',
      more: 'Só onde o operador ligou a política de falhas. O webhook recebe uma entrega por vez até responder bem. Ele mesmo não recebe este aviso.',
    },
    en: {
      summary: 'Another webhook of the partner has been failing for hours',
      more: 'Only where the operator has turned the policy on failures on. The webhook gets one delivery at a time until it answers well. It does not get this notice itself.',
    },
  }),
  'webhook.suspenso': notice('0.2', payload.webhookSuspended, {
    pt: {
      summary: 'Outro webhook do parceiro foi desativado pelo serviço, porque falhava há dias',
      more: 'Só onde o operador ligou a política de falhas. O que estava pendente ficou `suspensa`, e é retomado ao reativar o webhook.',
    },
    en: {
      summary: 'Another webhook of the partner was deactivated by the service, because it had failed for days',
      more: 'Only where the operator has turned the policy on failures on. What was pending became `suspensa`, and is resumed when the webhook is reactivated.',
    },
  }),
  'webhook.atraso': notice('0.4', payload.webhookLosing, {
    pt: {
      summary: 'A quarta tentativa de entregas de outro webhook do parceiro falhou',
      more: 'No máximo um por webhook e hora. As entregas destes avisos não contam.',
    },
    en: {
      summary: "The fourth attempt of deliveries of another of the partner's webhooks has failed",
      more: 'At most one a webhook and hour. Deliveries of these notices do not count.',
    },
  }),
  'webhook.erro': notice('0.4', payload.webhookLosing, {
    pt: {
      summary: 'Entregas de outro webhook do parceiro terminaram em `erro`',
      more: 'Nada mais é enviado até você as reenviar. No máximo um por webhook e hora; as entregas destes avisos não contam.',
    },
    en: {
      summary: "Deliveries of another of the partner's webhooks have ended in `erro`",
      more: 'Nothing more is sent until you send them again. At most one a webhook and hour; deliveries of these notices do not count.',
    },
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

/** What the loan core emits to partners. */
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

/** Whether a row of the log holds a fact as the table has it. `append_event` takes no other; a superuser may have planted one. */
export function isOfCatalog({ type, data }: { readonly type: string; readonly data: unknown }): boolean {
  return EVENT_TYPES.some((known) => known === type) && EVENTS[type as EventType].data.safeParse(data).success;
}
