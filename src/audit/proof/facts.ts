/** What a proof's file proves, in the wire's words, decoded from the sealed bytes; and what it says beside that. */
import type { Proof, ProvedRow } from '../../contract/resources/audit-resource.ts';
import type { Reached } from './reach.ts';
import { isStatusProven, TEST } from './status.ts';

type Fact = string | number | boolean | null | readonly (string | number | boolean | null)[];
type FactRow = Readonly<Record<string, Fact>>;

export interface Facts {
  readonly checkpoint: FactRow;
  /** True: the partner was sent a test; nothing of it happened. */
  readonly teste: boolean | null;
  readonly entrega: FactRow;
  readonly evento: FactRow | null;
  readonly tentativas: readonly FactRow[];
  readonly pedidos: readonly FactRow[];
  /** By which order the text was erased, and when. */
  readonly apagado: { readonly pedido: string; readonly em: string } | null;
}

/** The reported columns of a row, by their names in the auditors' lists. */
const EVENT = { id: 'id', tipo: 'type', parceiro_id: 'partner_id', ocorrido_em: 'occurred_at', autor: 'actor' };
const ATTEMPT = {
  numero: 'number',
  atrasada: 'late',
  resultado: 'outcome',
  status_http: 'status_code',
  inicio: 'started_at',
  duracao_ms: 'duration_ms',
  url: 'url',
  endereco: 'address',
  erro: 'error',
  registrada_em: 'recorded_at',
};
const ORDER = { tipo: 'kind', autor: 'actor', motivo: 'reason', pedido_em: 'ordered_at' };

export function factsOf(file: Proof, { head, seals, rows, fields }: Reached): Facts {
  const rowOf = (row: ProvedRow, columns: Readonly<Record<string, string>>): FactRow => {
    const of = fields.get(row) ?? {};
    const entries = Object.entries(columns).map(([name, column]) => [name, of[column] ?? null]);
    const seal = row.selo === null ? undefined : seals.get(row.selo);
    return { ...Object.fromEntries(entries), selo: row.selo, selado_em: seal?.sealedAt ?? null };
  };
  const reached = (list: readonly ProvedRow[]) => list.filter((row) => rows.has(row));
  const [named] = reached([...file.tentativas, ...file.pedidos]);
  const isEvent = file.evento !== null && rows.has(file.evento);
  const of = (row: ProvedRow) => fields.get(row) ?? {};
  const isProven = isStatusProven(file, of) && [...fields.keys()].every((row) => rows.has(row));
  const { pedido, pagina } = file.apagamento ?? {};
  const isErased = pedido !== undefined && pagina !== undefined && rows.has(pedido) && rows.has(pagina);
  return {
    checkpoint: {
      origem: head?.origin ?? null,
      tamanho: head?.size ?? null,
      raiz: head?.root.toString('base64') ?? null,
    },
    teste: isEvent && file.evento !== null ? of(file.evento)['type'] === TEST : null,
    entrega: {
      id: named === undefined ? null : file.entrega.id,
      webhook_id: named === undefined ? null : file.entrega.webhook_id,
      status: isProven ? file.entrega.status : null,
    },
    evento: isEvent && file.evento !== null ? rowOf(file.evento, EVENT) : null,
    tentativas: reached(file.tentativas).map((row) => rowOf(row, ATTEMPT)),
    pedidos: reached(file.pedidos).map((row) => rowOf(row, ORDER)),
    apagado: isErased ? { pedido: String(of(pedido)['id']), em: String(of(pedido)['ordered_at']) } : null,
  };
}

/** What nothing sealed repeats: a change of it cannot be detected. */
export function unprovenOf(file: Proof, { fields }: Reached): Readonly<Record<string, string | null>> {
  const { gerada_em, entrega, ancoras } = file;
  const isProven = isStatusProven(file, (row) => fields.get(row) ?? {});
  const receipts: [string, string][] = [];
  for (const [index, { tipo, onde, ancorada_em: at }] of ancoras.entries()) {
    receipts.push([`ancoras[${index}].ancorada_em`, at]);
    if (tipo !== 'testemunha') receipts.push([`ancoras[${index}].onde`, onde]);
  }
  return {
    gerada_em,
    'entrega.concluida_em': entrega.concluida_em,
    ...(!isProven && { 'entrega.status': entrega.status }),
    ...Object.fromEntries(receipts),
  };
}
