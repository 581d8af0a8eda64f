/** What a supervisor, a data protection officer or a judge asks of webhooks, each with its answer now (SUPERVISION.md). */
import type { Tx } from '../db/pool.ts';

interface Question {
  readonly question: string;
  /** A command, or a call of the API. */
  readonly where: string;
  /** A query of one row: the answer, and the time that it is of; null where nothing of the kind happened yet. */
  readonly sql: string;
}

const newest = (table: string, time: string, answer: string, where = 'true') =>
  `select ${answer} as answer, max(${time}) as at from ${table} where ${where}`;
const last = (table: string, time: string, answer: string, where = 'true') =>
  `select ${answer} as answer, ${time} as at from ${table} where ${where} order by ${time} desc limit 1`;

export const QUESTIONS: readonly Question[] = [
  {
    question: 'Who read the data of this CPF, and when?',
    where: 'POST /v1/auditoria/leituras/resumo, then GET /v1/auditoria/leituras?resumo=',
    sql: newest(
      'cpf_reads',
      'read_at',
      `count(*) || ' reads with CPFs in 30 days, by ' || count(distinct actor) || ' readers'`,
      `read_at > now() - interval '30 days'`,
    ),
  },
  {
    question: 'Which key signed on this day?',
    where: 'GET /v1/auditoria/tentativas?desde=&ate= (chave_id)',
    sql: `select 'newest of the last day: ' || coalesce(a.key_id, t.key_id, 'none') as answer, recorded_at as at
          from attempts a left join targets t on t.id = a.target where recorded_at > now() - interval '1 day' order by recorded_at desc limit 1`,
  },
  {
    question: 'Who muted a webhook?',
    where: 'GET /v1/auditoria/historico (silenciamento)',
    sql: last(
      'webhook_history',
      'changed_at',
      `change || ' by ' || masked(actor)`,
      `change in ('silenciamento', 'fim_do_silenciamento')`,
    ),
  },
  {
    question: 'Who changed a webhook or an account?',
    where: 'GET /v1/auditoria/historico',
    sql: `select change || ' by ' || masked(actor) as answer, changed_at as at
          from (select change, actor, changed_at from webhook_history union all select change, actor, changed_at from partner_history) h
          order by changed_at desc limit 1`,
  },
  {
    question: 'Who had what sent again, or cancelled?',
    where: 'GET /v1/auditoria/pedidos',
    sql: last(
      'send_orders',
      'ordered_at',
      `kind || ' of ' || cardinality(delivery_ids) || ' deliveries by ' || masked(actor)`,
    ),
  },
  {
    question: 'Which certificates of receivers end when?',
    where: 'GET /v1/webhooks/{id}/saude (certificado_ate)',
    sql: `select count(*) filter (where valid_until < now() + interval '21 days') || ' of ' || count(*) || ' end within 21 days' as answer,
                 max(seen_at) as at from receiver_certificates having count(*) > 0`,
  },
  {
    question: 'Which secrets are being changed, until when do the old ones hold?',
    where: 'GET /v1/auditoria/historico (rotacao)',
    sql: `select count(*) || ' webhooks still accept the secret before, until ' || max(previous_until)::date as answer, now() as at
          from webhooks where previous_until > now() having count(*) > 0`,
  },
  {
    question: 'How long are data kept, and with which settings does the service run?',
    where: 'GET /v1/auditoria/sistema?sobre=configuracao',
    sql: last(
      'system_history',
      'changed_at',
      `'eraseAfterYears ' || (value::json ->> 'eraseAfterYears') || ', loanCore ' || (value::json ->> 'loanCore')`,
      `about = 'configuracao'`,
    ),
  },
  {
    question: 'What was removed from the database, and by whose order?',
    where: 'select * from carteiro_auditoria.arquivos',
    sql: last(
      'archive_acts',
      'done_at',
      `month || ': ' || rows || ' rows by ' || masked(actor)`,
      `act = 'remocao_concluida'`,
    ),
  },
  {
    question: 'Which workers were forgotten, and by whose order?',
    where: 'select * from carteiro_auditoria.apagamentos',
    sql: newest('erasure_orders', 'ordered_at', `count(*) || ' orders, ' || coalesce(sum(events), 0) || ' events'`),
  },
  {
    question: 'When was a restore last proven?',
    where: 'audit drill; archive restore, then archive verify',
    sql: `select answer, at
          from (
            select month || ': ' || rows || ' rows came back by ' || masked(actor) as answer, done_at as at from archive_acts where act = 'restauracao'
            union all
            select job.result::json ->> 'mes' || ': ' || (job.result::json #>> '{restaurado,linhas}') || ' rows were made again by the drill', succeeded_at
            from scheduled_jobs job where name = 'drill' and exit_code = 0 and job.result::json #>> '{restaurado,linhas}' is not null
          ) proven
          order by at desc limit 1`,
  },
  {
    question: 'Which deliveries of a day did not arrive?',
    where: 'GET /v1/auditoria/entregas?status=erro&de=&ate=',
    sql: newest(
      'deliveries',
      'finished_at',
      `count(*) || ' ended in erro in the last day'`,
      `status = 'erro' and finished_at > now() - interval '1 day'`,
    ),
  },
  {
    question: 'Who was told of that, and when?',
    where: 'GET /v1/webhooks/{id}/historico (avisos)',
    sql: last('alerts', 'sent_at', `kind || ' by ' || channel`, 'sent_at is not null'),
  },
  {
    question: 'What still waits to be sent?',
    where: 'queue status',
    sql: `select count(*) || ' deliveries, the oldest of ' || min(created_at) as answer, now() as at from deliveries where status = 'pendente'`,
  },
  {
    question: 'Was the log changed?',
    where: 'audit verify; GET /v1/auditoria/verificacoes',
    sql: last('verify_verdicts', 'checked_at', `findings || ' findings over ' || rows || ' rows'`, 'finished'),
  },
  {
    question: 'Did every event reach each webhook that was subscribed?',
    where: 'audit balance; GET /v1/auditoria/balanco',
    sql: last(
      'balance_verdicts',
      'checked_at',
      `from_day || ' to ' || to_day || ': ' || differences || ' differences'`,
    ),
  },
  {
    question: 'What of the evidence is witnessed outside, and until when?',
    where: 'audit anchor; doctor',
    sql: `select count(*) || ' places, the farthest with ' || coalesce(max(size), 0) || ' seals' as answer, max(anchored_at) as at
          from anchors where active having count(*) > 0`,
  },
  {
    question: 'Up to when is everything sealed and signed?',
    where: 'audit head; GET /v1/evidencia/checkpoint',
    sql: last('checkpoints', 'signed_at', `size || ' seals'`),
  },
  {
    question: 'Who may do what?',
    where: 'drizzle/rights.sql; \\du in psql',
    sql: `select string_agg(role || ' ' || logins, ', ' order by role) as answer, now() as at
          from (select r.rolname as role, (select count(*) from pg_auth_members m where m.roleid = r.oid) as logins
                from pg_roles r where r.rolname ~ '_(owner|app|poller|core|migrator|auditor|auditor_cpf)$') held`,
  },
  {
    question: 'What changed in the interface?',
    where: 'GET /v1/auditoria/sistema?sobre=catalogo',
    sql: last(
      'system_history',
      'changed_at',
      `name || ' is of version ' || (value::json ->> 'versao')`,
      `about = 'catalogo' and value is not null`,
    ),
  },
];

export interface Answered {
  readonly question: string;
  readonly where: string;
  readonly answer: string | null;
  /** Null: nothing of the kind happened yet. */
  readonly at: Date | null;
}

export async function report(sql: Tx): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (const { question, where, sql: query } of QUESTIONS) {
    const [row] = await sql.unsafe<{ answer: string | null; at: Date | null }[]>(query);
    answered.push({ question, where, answer: row?.answer ?? null, at: row?.at ?? null });
  }
  return answered;
}
