/**
 * Rows that auditors read over HTTP and in SQL, by the same names: of each view of `carteiro_auditoria` one statement, which `migrate`
 * makes the view of, and audit/lists its pages. `masked` masks a text as the view's reader needs; HTTP masks by the token's scope, so
 * its pages leave that out. `{attempts}` and `{deliveries}` stand for the table, or for it with the rows of an archive.
 */
const AUDITED = {
  tentativas: `
    select delivery_id as entrega_id, number as numero, late as atrasada, webhook_id, partner_id as parceiro_id,
           event_id as evento_id,
           (select coalesce(case when e.type = 'webhook.teste' then nullif(field_of(e.data, 'exemplo_de'), '') end, e.type)
            from events e where e.id = event_id and e.fan_out is not null) as evento,
           (select e.stream from events e where e.id = event_id and e.loan_version is not null) as emprestimo_id,
           outcome as resultado, status_code as status_http, started_at as inicio, duration_ms as duracao_ms,
           masked(coalesce(url, (select t.url from targets t where t.id = target))) as url,
           coalesce(address, (select t.address from targets t where t.id = target)) as endereco,
           coalesce(key_id, (select t.key_id from targets t where t.id = target)) as chave_id,
           poller_of(claim) as poller, claim as reivindicacao, masked(error) as erro,
           masked(answer_head(answer)) as resposta_cabecalhos,
           case when answer is null and commitment is not null then 'apagado' else masked(answer_body(answer)) end as resposta,
           recorded_at as registrada_em, epoch as epoca, tx as transacao
    from {attempts} a`,
  entregas: `
    select id, event_id as evento_id, webhook_id, partner_id as parceiro_id, status, attempts as total_tentativas,
           next_attempt_at as proxima_tentativa_em, created_at as criada_em, finished_at as concluida_em
    from {deliveries} d`,
  eventos: `
    select position as posicao, id, stream as fluxo, version as versao, type as evento, family as familia,
           partner_id as parceiro_id, masked(data::text) as dados, occurred_at as ocorrido_em, masked(actor) as autor,
           request_id as requisicao_id, epoch as epoca, tx as transacao, imported as importado
    from events`,
  pedidos_envio: `
    select position as posicao, kind as tipo, webhook_id, partner_id as parceiro_id, delivery_ids as entregas,
           masked(actor) as autor, masked(reason) as motivo, request_id as requisicao_id, ordered_at as pedido_em, epoch as epoca,
           tx as transacao
    from send_orders`,
  historico: `
    select 'webhook' as sobre, position as posicao, partner_id as parceiro_id, webhook_id, masked(url) as url, events as eventos,
           null as nome, null as tipo_assinatura, null as entrega_documentos, null as emissao, active as ativo, change as mudanca,
           masked(actor) as autor, masked(reason) as motivo, request_id as requisicao_id, changed_at as mudado_em,
           takes_effect_at as vale_em, epoch as epoca, tx as transacao
    from webhook_history
    union all
    select 'parceiro', position, partner_id, null, null, null, name, signing, documents, issuance, active, change, masked(actor),
           masked(reason), null, changed_at, null, epoch, tx
    from partner_history`,
  leituras_cpf: `
    select position as posicao, masked(actor) as autor, operation as operacao, asked as pedido, request_id as requisicao_id,
           events as eventos, read_at as lida_em, epoch as epoca, tx as transacao
    from cpf_reads`,
  historico_sistema: `
    select position as posicao, about as sobre, name as nome, value as valor, actor as autor, changed_at as mudado_em, epoch as epoca,
           tx as transacao
    from system_history`,
  vereditos: `
    select 'verificacao' as sobre, position as posicao, findings = 0 as confere, findings as achados, since::float8 as desde_selo,
           size::float8 as selos, rows::float8 as linhas, null as de, null as ate, checked_at::timestamptz(3) as em
    from verify_verdicts where finished
    union all
    select 'balanco', position, closes, differences, null, null, null, from_day, to_day, checked_at::timestamptz(3)
    from balance_verdicts`,
  selos: `
    select number as numero, first_epoch as primeira_epoca, first_tx as primeira_transacao, end_epoch as epoca_final,
           end_tx as transacao_final, rows as linhas, root as raiz, remains as restante, leaf as folha, sealed_at as selado_em
    from seals`,
} as const;

export type AuditorsView = keyof typeof AUDITED;

/** The unmasked statement, in two parts: between them stands where rows are read, if there are two. */
export function unmasked(view: AuditorsView): readonly string[] {
  return AUDITED[view].replaceAll('masked(', '(').split(/\{\w+\}/);
}

/** Each view as a file of functions/ would make it, by that file's name. */
export function auditorsViews(): [name: string, sql: string][] {
  return Object.entries(AUDITED).map(([view, rows]) => {
    const name = `carteiro_auditoria.${view}`;
    const sql = `drop view if exists ${name};\ncreate view ${name} as${rows.replace(/\{(\w+)\}/, '$1')};`;
    return [`functions/auditoria.${view}.sql`, sql];
  });
}
