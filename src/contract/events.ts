/**
 * The one event table: every type the log may hold and every name a partner may meet.
 * `emitted` events are delivered, `internal` ones are facts of the log that no partner is sent,
 * `reserved` names exist in the catalog and are never emitted (contract, "Guarantee matrix").
 */
import type { z } from 'zod';
import * as payload from './payloads.ts';

type Guarantee = 'guaranteed' | 'conditional';

function emitted<S extends z.ZodType>(guarantee: Guarantee, data: S) {
  return { kind: 'emitted', guarantee, data } as const;
}

function internal<S extends z.ZodType>(data: S) {
  return { kind: 'internal', data } as const;
}

const reserved = { kind: 'reserved' } as const;

export const EVENTS = {
  'autorizacao.confirmada': emitted('guaranteed', payload.authorizationConfirmed),
  'margem.concluida': emitted('conditional', payload.marginConcluded),
  'margem.falhou': emitted('guaranteed', payload.marginFailed),
  'emprestimo.emitido': emitted('conditional', payload.loanIssued),
  'emprestimo.emissao_falhou': emitted('conditional', payload.issuanceFailed),
  'assinatura.concluida': emitted('guaranteed', payload.signingConcluded),
  'assinatura.pendente': emitted('conditional', payload.signingPending),
  'docs_registry.pendente': emitted('conditional', payload.documentsPending),
  'docs_registry.recebido': emitted('conditional', payload.documentsReceived),
  'averbacao.concluida': emitted('guaranteed', payload.registrationConcluded),
  'averbacao.falhou': emitted('guaranteed', payload.registrationFailed),
  'desembolso.liquidado': emitted('guaranteed', payload.disbursementSettled),
  'desembolso.falhou': emitted('guaranteed', payload.disbursementFailed),
  'trabalhador.desligado': emitted('guaranteed', payload.bondEnded),
  'trabalhador.vinculo_novo': emitted('guaranteed', payload.newBond),
  'repasse.processado': emitted('guaranteed', payload.settlementProcessed),
  'repasse.pago': reserved,
  'autorizacao.expirada': reserved,
  'emprestimo.contratado': internal(payload.loanContracted),
  'emprestimo.solicitado': internal(payload.loanContracted),
  'averbacao.solicitada': internal(payload.registrationRequested),
  'documento.recebido': internal(payload.documentReceived),
} as const;

type Table = typeof EVENTS;
type NamesOfKind<K> = { [N in keyof Table]: Table[N]['kind'] extends K ? N : never }[keyof Table];

/** The sixteen names a partner can subscribe to. */
export type EmittedName = NamesOfKind<'emitted'>;
/** Every type that the log may hold. */
export type EventType = NamesOfKind<'emitted' | 'internal'>;
export type EventData<T extends EventType> = z.infer<Table[T]['data']>;
/** A fact: its type and its data, before it has a place in the log. */
export type Fact = { [T in EventType]: { readonly type: T; readonly data: EventData<T> } }[EventType];

function namesOfKind<K extends Table[keyof Table]['kind']>(kind: K): NamesOfKind<K>[] {
  return (Object.keys(EVENTS) as (keyof Table)[]).filter((name): name is NamesOfKind<K> => EVENTS[name].kind === kind);
}

export const EMITTED_NAMES = namesOfKind('emitted');
export const RESERVED_NAMES = namesOfKind('reserved');
const INTERNAL_TYPES = namesOfKind('internal');
export const EVENT_TYPES: readonly EventType[] = [...EMITTED_NAMES, ...INTERNAL_TYPES];

/** The facts that a loan's stream may begin with. */
export const LOAN_BEGINNINGS: readonly EventType[] = ['emprestimo.contratado', 'emprestimo.solicitado'];
