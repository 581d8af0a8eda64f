/** The kinds of rows that auditors list and export. To add one: its entry here, and its route's in http/routes/audit-lists.ts. */
import * as contract from '../../contract/resources/audit-lists.ts';
import type { Tx } from '../../db/pool.ts';
import type { DeliveryRows } from '../../delivery/partner/delivery-rows.ts';
import type { Cut, Filters, Kind, Walk } from './kind.ts';

/** Rows of transactions below the cut, which have all ended. */
const BY_TRANSACTION = {
  within: (sql: Tx, { epoch, tx }: Cut) => sql`(v.epoca, v.transacao) < (${epoch}::smallint, ${tx}::text::xid8)`,
  now: async (sql: Tx) => {
    const [now] = await sql<[Cut]>`
      select current_epoch() as epoch, pg_snapshot_xmin(pg_current_snapshot())::text as tx`;
    return now;
  },
};

/** The deliveries of events, found through their partner's webhooks, active or not; both are few. */
function deliveriesOf(sql: Tx, column: 'id' | 'stream', value: string, { deliveries }: DeliveryRows) {
  return sql`
    array(select d.id
          from events e
          join webhooks w on w.partner_id = e.partner_id
          join ${deliveries} d on d.webhook_id = w.id and d.event_id = e.id
          where e.${sql(column)} = ${value})`;
}

function walkAttempts(
  sql: Tx,
  { webhook_id: webhook, parceiro_id: partner, resultado: outcome }: Filters,
): Walk | undefined {
  if (webhook !== undefined)
    return { column: 'parceiro_id', value: sql`(select w.partner_id from webhooks w where w.id = ${webhook})` };
  if (partner !== undefined)
    return { column: 'parceiro_id', value: sql`(select ${partner}::uuid)`, answers: 'parceiro_id' };
  if (outcome === undefined || outcome === 'entregue' || outcome.includes(',')) return undefined;
  const where = sql`and v.resultado <> 'entregue'`;
  return { column: 'resultado', value: sql`(select ${outcome}::text)`, where, answers: 'resultado' };
}

export const KINDS = {
  tentativas: {
    view: 'tentativas',
    schema: contract.auditedAttempt,
    key: { registrada_em: 'timestamptz', entrega_id: 'uuid', numero: 'int', atrasada: 'boolean' },
    masked: ['url', 'erro', 'resposta_cabecalhos', 'resposta'],
    few: {
      entrega_id: null,
      emprestimo_id: (sql, loan, rows) => sql`v.entrega_id = any (${deliveriesOf(sql, 'stream', loan, rows)})`,
    },
    fits: { resultado: (sql, outcomes) => sql`v.resultado = any (string_to_array(${outcomes}, ','))` },
    walk: walkAttempts,
    removed: {
      table: 'attempts',
      columns: { parceiro_id: 'partner_id', webhook_id: 'webhook_id', resultado: 'outcome' },
      named: {
        entrega_id: (removed, id) => removed.delivery(id),
        emprestimo_id: (removed, loan) => removed.deliveriesOf('stream', loan),
      },
    },
    cut: BY_TRANSACTION,
  },
  entregas: {
    view: 'entregas',
    schema: contract.auditedDelivery,
    key: { id: 'uuid' },
    masked: [],
    few: { evento_id: (sql, event, rows) => sql`v.id = any (${deliveriesOf(sql, 'id', event, rows)})` },
    removed: {
      table: 'deliveries',
      columns: {},
      named: { evento_id: (removed, event) => removed.deliveriesOf('id', event) },
    },
  },
  eventos: {
    view: 'eventos',
    schema: contract.auditedEvent,
    key: { id: 'uuid' },
    masked: ['dados', 'autor'],
    few: { evento_id: (sql, event) => sql`v.id = ${event}`, emprestimo_id: (sql, loan) => sql`v.fluxo = ${loan}` },
    cut: BY_TRANSACTION,
  },
  pedidos: {
    view: 'pedidos_envio',
    schema: contract.auditedSendOrder,
    key: { pedido_em: 'timestamptz', posicao: 'bigint' },
    masked: ['autor', 'motivo'],
    few: { webhook_id: null },
    cut: BY_TRANSACTION,
  },
  historico: {
    view: 'historico',
    schema: contract.auditedHistory,
    key: { mudado_em: 'timestamptz', sobre: 'text', posicao: 'bigint' },
    masked: ['url', 'autor', 'motivo'],
    few: { webhook_id: null, parceiro_id: null },
    cut: BY_TRANSACTION,
  },
  leituras: {
    view: 'leituras_cpf',
    schema: contract.auditedRead,
    key: { lida_em: 'timestamptz', posicao: 'bigint' },
    masked: ['autor'],
    // A file may hold any event, so its read is never left out.
    fits: {
      evento_id: (sql, event) => sql`(v.eventos is null or ${event}::text::uuid = any (v.eventos))`,
      resumo: (sql, digest) => sql`
        (v.eventos is null or v.eventos && array(select event_id from events_of_worker(decode(${digest}, 'hex'))))`,
    },
    cut: BY_TRANSACTION,
  },
  sistema: {
    view: 'historico_sistema',
    schema: contract.auditedSystemChange,
    key: { mudado_em: 'timestamptz', posicao: 'bigint' },
    masked: [],
    cut: BY_TRANSACTION,
  },
  verificacoes: {
    view: 'vereditos',
    schema: contract.auditedVerdict,
    key: { em: 'timestamptz', sobre: 'text', posicao: 'bigint' },
    masked: [],
  },
  selos: {
    view: 'selos',
    schema: contract.auditedSeal,
    key: { numero: 'bigint' },
    masked: [],
    cut: {
      within: (sql, { epoch, tx }) =>
        sql`(v.epoca_final, v.transacao_final) <= (${epoch}::smallint, ${tx}::text::numeric)`,
      now: async (sql) => {
        const [now] = await sql<Cut[]>`
          select end_epoch as epoch, end_tx::text as tx from seals order by number desc limit 1`;
        return now ?? { epoch: 0, tx: '0' };
      },
    },
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof KINDS;
