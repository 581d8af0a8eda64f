/** The kinds of rows that auditors list and export. To add one: its entry here, and its route's in http/routes/audit-lists.ts. */
import { ERASED } from '../../contract/erasure.ts';
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
    source: (sql, { attempts }) => sql`
      select delivery_id as entrega_id, number as numero, late as atrasada, partner_id as parceiro_id, webhook_id,
             event_id as evento_id, (select m.type from messages m where m.event_id = a.event_id) as evento,
             (select e.stream from events e where e.id = a.event_id and e.loan_version is not null) as emprestimo_id,
             started_at as inicio, recorded_at as registrada_em, duration_ms as duracao_ms, outcome as resultado,
             status_code as status_http, coalesce(url, (select t.url from targets t where t.id = a.target)) as url,
             coalesce(address, (select t.address from targets t where t.id = a.target)) as endereco,
             coalesce(key_id, (select t.key_id from targets t where t.id = a.target)) as chave_id,
             poller_of(claim) as poller, claim as reivindicacao,
             error as erro, answer_head(answer) as resposta_cabecalhos,
             case when answer is null and commitment is not null then ${ERASED} else answer_body(answer) end as resposta,
             epoch as epoca, tx as transacao
      from ${attempts} a`,
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
    source: (sql, { deliveries }) => sql`
      select id, event_id as evento_id, webhook_id, partner_id as parceiro_id, status, attempts as total_tentativas,
             next_attempt_at as proxima_tentativa_em, created_at as criada_em, finished_at as concluida_em
      from ${deliveries} d`,
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
    source: (sql) => sql`
      select id, position as posicao, stream as fluxo, version as versao, type as evento, family as familia,
             partner_id as parceiro_id, data::text as dados, occurred_at as ocorrido_em, actor as autor,
             request_id as requisicao_id, imported as importado, epoch as epoca, tx as transacao
      from events`,
    few: { evento_id: (sql, event) => sql`v.id = ${event}`, emprestimo_id: (sql, loan) => sql`v.fluxo = ${loan}` },
    cut: BY_TRANSACTION,
  },
  pedidos: {
    view: 'pedidos_envio',
    schema: contract.auditedSendOrder,
    key: { pedido_em: 'timestamptz', posicao: 'bigint' },
    masked: ['autor', 'motivo'],
    source: (sql) => sql`
      select position as posicao, kind as tipo, webhook_id, partner_id as parceiro_id, delivery_ids as entregas, actor as autor,
             reason as motivo, request_id as requisicao_id, ordered_at as pedido_em, epoch as epoca, tx as transacao
      from send_orders`,
    few: { webhook_id: null },
    cut: BY_TRANSACTION,
  },
  historico: {
    view: 'historico',
    schema: contract.auditedHistory,
    key: { mudado_em: 'timestamptz', sobre: 'text', posicao: 'bigint' },
    masked: ['url', 'autor', 'motivo'],
    source: (sql) => sql`
      select 'webhook' as sobre, position as posicao, partner_id as parceiro_id, webhook_id, url, events as eventos, null as nome,
             null as tipo_assinatura, null as entrega_documentos, null as emissao, active as ativo, change as mudanca, actor as autor,
             reason as motivo, request_id as requisicao_id, changed_at as mudado_em, takes_effect_at as vale_em, epoch as epoca,
             tx as transacao
      from webhook_history
      union all
      select 'parceiro', position, partner_id, null, null, null, name, signing, documents, issuance, active, change, actor, reason,
             null, changed_at, null, epoch, tx
      from partner_history`,
    few: { webhook_id: null, parceiro_id: null },
    cut: BY_TRANSACTION,
  },
  leituras: {
    view: 'leituras_cpf',
    schema: contract.auditedRead,
    key: { lida_em: 'timestamptz', posicao: 'bigint' },
    masked: ['autor'],
    source: (sql) => sql`
      select position as posicao, actor as autor, operation as operacao, asked as pedido, request_id as requisicao_id, events as eventos,
             read_at as lida_em, epoch as epoca, tx as transacao
      from cpf_reads`,
    // A file may hold any event, so its read is never left out.
    fits: {
      evento_id: (sql, event) => sql`(v.eventos is null or ${event}::text::uuid = any (v.eventos))`,
      resumo: (sql, digest) => sql`
        (v.eventos is null or v.eventos && array(select event_id from worker_events where digest = decode(${digest}, 'hex')))`,
    },
    cut: BY_TRANSACTION,
  },
  sistema: {
    view: 'historico_sistema',
    schema: contract.auditedSystemChange,
    key: { mudado_em: 'timestamptz', posicao: 'bigint' },
    masked: [],
    source: (sql) => sql`
      select position as posicao, about as sobre, name as nome, value as valor, actor as autor, changed_at as mudado_em, epoch as epoca,
             tx as transacao
      from system_history`,
    cut: BY_TRANSACTION,
  },
  verificacoes: {
    view: 'vereditos',
    schema: contract.auditedVerdict,
    key: { em: 'timestamptz', sobre: 'text', posicao: 'bigint' },
    masked: [],
    source: (sql) => sql`
      select 'verificacao' as sobre, position as posicao, findings = 0 as confere, findings as achados, since::float8 as desde_selo,
             size::float8 as selos, rows::float8 as linhas, null as de, null as ate, checked_at::timestamptz(3) as em
      from verify_verdicts where finished
      union all
      select 'balanco', position, closes, differences, null, null, null, from_day, to_day, checked_at::timestamptz(3)
      from balance_verdicts`,
  },
  selos: {
    view: 'selos',
    schema: contract.auditedSeal,
    key: { numero: 'bigint' },
    masked: [],
    source: (sql) => sql`
      select number as numero, first_epoch as primeira_epoca, first_tx as primeira_transacao, end_epoch as epoca_final,
             end_tx as transacao_final, rows as linhas, root as raiz, remains as restante, leaf as folha, sealed_at as selado_em
      from seals`,
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
