/** A lender's history as the command `import` reads it: loans with five events each, spread over the year before `until`. */
import { createHash } from 'node:crypto';
import { dayOf } from '../../src/contract/calendar.ts';

export interface HistoryEvent {
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly partner_id: string;
  readonly occurred_at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const DAY_MS = 86_400_000;

/** The same id for the same words. */
export function idOf(...words: readonly (string | number)[]): string {
  const hex = createHash('sha256').update(words.join(' ')).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}

/** A loan from its contract to its transfer; `seed` tells one history from another. */
export function loanHistory(partnerId: string, index: number, begun: Date, seed = 'history'): HistoryEvent[] {
  const stream = idOf(seed, index);
  const numero = `${dayOf(begun).slice(0, 4)}-${String(index + 1).padStart(8, '0')}`;
  const registration = { emprestimo_id: stream, averbacao_id: idOf(seed, index, 'averbacao') };
  const paidOn = new Date(begun.getTime() + 2 * DAY_MS);
  const events: [string, Record<string, unknown>][] = [
    [
      'emprestimo.contratado',
      {
        emprestimo_id: stream,
        numero,
        cpf_trabalhador: '52998224725',
        nome_trabalhador: 'Ana Souza',
        matricula: `M-${index}`,
        cnpj_empregador: '11222333000181',
        tipo_assinatura: 'internal',
        entrega_documentos: 'agrupada',
        valor_liberado: 5000.5,
        numero_parcelas: 24,
        valor_parcela: 260.1,
        consulta_margem_id: null,
      },
    ],
    ['assinatura.concluida', { emprestimo_id: stream, tipo_assinatura: 'internal' }],
    ['averbacao.solicitada', registration],
    ['averbacao.concluida', { ...registration, protocolo_registry: `REG-${index}` }],
    [
      'desembolso.liquidado',
      { emprestimo_id: stream, numero_emprestimo: numero, valor_liberado: 5000.5, data_liberacao: dayOf(paidOn) },
    ],
  ];
  return events.map(([type, data], at) => ({
    stream,
    version: at + 1,
    type,
    partner_id: partnerId,
    occurred_at: new Date(begun.getTime() + (at * 2 * DAY_MS) / 4).toISOString(),
    data,
  }));
}

/** `loans` of them over the year that ended a month before `until`, each a line an event. */
export function* yearOfHistory(partnerId: string, loans: number, until: Date, seed?: string): Generator<HistoryEvent> {
  for (let index = 0; index < loans; index += 1) {
    yield* loanHistory(partnerId, index, new Date(until.getTime() - (395 - (index % 365)) * DAY_MS), seed);
  }
}

/** As a file has them. */
export function linesOf(events: Iterable<unknown>): string {
  return Array.from(events, (event) => `${JSON.stringify(event)}\n`).join('');
}
