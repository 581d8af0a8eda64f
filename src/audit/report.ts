/** What a supervisor, a data protection officer or a judge asks of webhooks, each with its answers now, masked (SUPERVISION.md). */
import { masked } from '../contract/masking/masking.ts';
import { firstIdAt } from '../db/first-id.ts';
import type { Tx } from '../db/pool.ts';

interface About {
  /** The keyed digest of the CPF that question 1 is about; null: none was given. */
  readonly digest: Buffer | null;
  /** The day that is asked about: from `from` on, before `until`. */
  readonly from: Date;
  readonly until: Date;
  /** Of the installation's roles. */
  readonly rolePrefix: string;
}

interface Answer {
  /** The time that it is of. */
  readonly at: Date;
  readonly answer: string;
}

interface Question {
  readonly question: string;
  /** Commands, or calls of the API. */
  readonly where: readonly string[];
  /** The answer while nothing of the kind has happened. */
  readonly none: string;
  /** Rows of `at` and `answer`. */
  readonly ask: (sql: Tx, about: About) => ReturnType<Tx>;
}

/** Answers of one question; what is beyond them is read where the question says. */
const MAX_ANSWERS = 20;

const utc = (sql: Tx, time: string) => sql.unsafe(`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`);

export const QUESTIONS: readonly Question[] = [
  {
    question: 'Who read this CPF, and when?',
    where: [
      'audit report --cpf CPF',
      'POST /v1/auditoria/leituras/resumo, then GET /v1/auditoria/leituras?resumo=RESUMO',
    ],
    none: 'nobody with a token of scope auditoria:cpf (give --cpf for one CPF)',
    ask: (sql, { digest }) => sql`
      select read_at as at, actor || ': ' || asked || case when events is null then ' (it may hold any event)' else '' end as answer
      from cpf_reads
      where ${digest}::bytea is null or events is null or events && array(select event_id from events_of_worker(${digest}))`,
  },
  {
    question: 'Which key signed on this day?',
    where: ['audit report --day DAY', 'GET /v1/auditoria/tentativas?desde=DAY&ate=DAY (chave_id)'],
    none: 'nothing on the day, or its rows are in the archive (see 9)',
    ask: (sql, { from, until }) => sql`
      select max(recorded_at) as at, 'POSTs: by secrets under key ' || coalesce(a.key_id, t.key_id, 'none') || ', ' || count(*) || ' attempts' as answer
      from attempts a left join targets t on t.id = a.target
      where recorded_at >= ${from} and recorded_at < ${until} group by coalesce(a.key_id, t.key_id, 'none')
      union all
      select max(signed_at), 'checkpoints: by ' || m[1] || '+' || encode(substr(decode(m[2], 'base64'), 1, 4), 'hex') || ', ' || count(*) || ' of them'
      from checkpoints, regexp_matches(note, '— (\\S+) (\\S+)', 'g') m
      where signed_at >= ${from} and signed_at < ${until} group by m[1], substr(decode(m[2], 'base64'), 1, 4)`,
  },
  {
    question: 'Who muted a webhook?',
    where: ['GET /v1/auditoria/historico?sobre=webhook (mudanca: silenciamento, fim_do_silenciamento)'],
    none: 'nobody',
    ask: (sql) => sql`
      select changed_at as at, change || ' of webhook ' || webhook_id || ' by ' || actor || coalesce(': ' || reason, '') as answer
      from webhook_history where change in ('silenciamento', 'fim_do_silenciamento')`,
  },
  {
    question: 'Who changed a webhook or an account?',
    where: ['GET /v1/auditoria/historico'],
    none: 'nobody',
    ask: (sql) => sql`
      (select changed_at as at, change || ' of webhook ' || webhook_id || ' by ' || actor || coalesce(': ' || reason, '') as answer
       from webhook_history order by changed_at desc limit ${MAX_ANSWERS + 1})
      union all
      (select changed_at, change || ' of partner ' || partner_id || ' by ' || actor || coalesce(': ' || reason, '')
       from partner_history order by changed_at desc limit ${MAX_ANSWERS + 1})`,
  },
  {
    question: 'Who had what sent again, or cancelled?',
    where: ['GET /v1/auditoria/pedidos'],
    none: 'nobody',
    ask: (sql) => sql`
      select ordered_at as at,
             kind || ' of ' || case cardinality(delivery_ids) when 1 then 'delivery ' || delivery_ids[1] else cardinality(delivery_ids) || ' deliveries' end
             || ' by ' || actor || coalesce(': ' || reason, '') as answer
      from send_orders`,
  },
  {
    question: 'Which certificates end when?',
    where: ['audit report', 'GET /v1/webhooks/{id}/saude (certificado_ate; the token of the partner)'],
    none: 'no receiver has shown a certificate, and no webhook has one of ours',
    ask: (sql) => sql`
      (select seen_at as at, origin || ' shows one until ' || ${utc(sql, 'valid_until')} as answer
       from receiver_certificates order by valid_until limit ${MAX_ANSWERS})
      union all
      (select clock_timestamp(), 'webhook ' || id || ' is sent with one of ours until ' || ${utc(sql, 'certificate_until')}
       from webhooks where certificate_until is not null order by certificate_until limit ${MAX_ANSWERS})`,
  },
  {
    question: 'Which secrets end when?',
    where: ['audit report', 'GET /v1/auditoria/historico?sobre=webhook (mudanca: segredo_…)'],
    none: 'none is being changed, and a secret ends only by being changed',
    ask: (sql) => sql`
      select clock_timestamp() as at,
             'webhook ' || id || ': the secret before signs until ' || ${utc(sql, 'previous_until')}
             || coalesce(', the new one from ' || ${utc(sql, 'signs_from')} || ' on', ' beside the new one') as answer
      from webhooks where previous_until > clock_timestamp()`,
  },
  {
    question: 'How long are data kept, and with which settings does the service run?',
    where: ['GET /v1/auditoria/sistema?sobre=configuracao'],
    none: 'no api has started yet',
    ask: (sql) => sql`
      select changed_at as at,
             'of ' || name || ': ' || coalesce('months leave for the archive after ' || (value::json ->> 'keepMonths'), 'nothing is removed (KEEP_MONTHS is not set)')
             || '; a worker may be forgotten ' || (value::json ->> 'eraseAfterYears') || ' years after the last loan; settings: ' || value as answer
      from system_history where about = 'configuracao'`,
  },
  {
    question: 'What was removed from the database, and by whose order?',
    where: ['select * from carteiro_auditoria.arquivos (the login of an auditor)', 'archive verify MONTH'],
    none: 'nothing',
    ask: (sql) => sql`
      select done_at as at, act || ' of ' || month || ': ' || rows || ' rows by ' || actor || coalesce(': ' || reason, '') as answer
      from archive_acts where act in ('remocao_concluida', 'restauracao')`,
  },
  {
    question: 'Which workers were forgotten, and by whose order?',
    where: ['select * from carteiro_auditoria.apagamentos (the login of an auditor)'],
    none: 'nobody',
    ask: (sql) => sql`
      select ordered_at as at,
             'order ' || id || ': ' || events || ' events by ' || actor || ': ' || reason || coalesce(', court order ' || court_order, '') as answer
      from erasure_orders`,
  },
  {
    question: 'When was a restore last proven?',
    where: ['audit drill (exercises one now)', 'doctor (its line job drill)'],
    none: 'never: there is no archived month yet, or the drill has not run',
    ask: (sql) => sql`
      select done_at as at, month || ': ' || rows || ' rows came back by ' || actor as answer from archive_acts where act = 'restauracao'
      union all
      select succeeded_at, concat(result::json ->> 'mes', ': ', result::json #>> '{restaurado,linhas}', ' rows were made again by the drill in ',
                                  result::json #>> '{restaurado,segundos}', ' s')
      from scheduled_jobs where name = 'drill' and exit_code = 0 and result::json #>> '{restaurado,linhas}' is not null`,
  },
  {
    question: 'Which deliveries of a day did not arrive?',
    where: ['audit report --day DAY', 'GET /v1/auditoria/entregas?de=DAY&ate=DAY (a status other than entregue)'],
    none: 'all of the day arrived, or are in the archive (see 9)',
    ask: (sql, { from, until }) => sql`
      select coalesce(finished_at, created_at) as at,
             status || ' after ' || attempts || ' attempts: delivery ' || id || ' to webhook ' || webhook_id as answer
      from deliveries where id >= ${firstIdAt(from)} and id < ${firstIdAt(until)} and status <> 'entregue'`,
  },
  {
    question: 'Who was told of that, and when?',
    where: ['audit report --day DAY', 'GET /v1/alertas (the token of the partner)'],
    none: 'nobody: the partner has named no address, or nothing of the day was to be told',
    ask: (sql, { from, until }) => sql`
      select coalesce(sent_at, created_at) as at,
             kind || ' of webhook ' || subject || ' to partner ' || partner_id || ' by ' || channel
             || case when sent_at is null then ': not sent; ' || coalesce(error, attempts || ' attempts') else '' end as answer
      from alerts
      where happened_at >= ${from} and happened_at < ${until} and kind in ('atraso', 'erro', 'falhando', 'suspensao', 'silenciado')`,
  },
  {
    question: 'What still waits to be sent?',
    where: ['queue status'],
    none: 'nothing',
    ask: (sql) => sql`
      select clock_timestamp() as at, count(*) || ' deliveries to webhook ' || webhook_id || ' of partner ' || partner_id as answer
      from pending group by webhook_id, partner_id order by count(*) desc limit ${MAX_ANSWERS + 1}`,
  },
  {
    question: 'Was the log changed?',
    where: ['audit verify', 'GET /v1/auditoria/verificacoes?sobre=verificacao'],
    none: 'not verified yet: api does so every night',
    ask: (sql) => sql`
      select checked_at as at, findings || ' findings over ' || rows || ' rows' as answer from verify_verdicts where finished`,
  },
  {
    question: 'Has each event a delivery for each webhook that was subscribed?',
    where: ['audit balance --from DAY --to DAY', 'GET /v1/auditoria/balanco?de=DAY&ate=DAY'],
    none: 'not counted yet: api does so every night',
    ask: (sql) => sql`
      select checked_at as at, from_day || ' to ' || to_day || case when closes then ' closes, ' else ' does not close, ' end || differences || ' differences (what arrived is in 12)' as answer
      from balance_verdicts`,
  },
  {
    question: 'What of the evidence is witnessed outside, and until when?',
    where: ['doctor (its line anchors)', 'audit anchor (where an ANCHOR_… is set)'],
    none: 'nothing: no place outside keeps checkpoints (ANCHOR_… is not set)',
    ask: (sql) => sql`
      select coalesce(anchored_at, known_at) as at, kind || ' ' || place || ' has ' || size || ' seals' || coalesce('; the last try: ' || error, '') as answer
      from anchors where active`,
  },
  {
    question: 'Up to when is everything sealed and signed?',
    where: ['audit head', 'GET /v1/evidencia/checkpoint'],
    none: 'nothing is signed: CHECKPOINT_KEY_FILE is not set, or no row is sealed yet',
    ask: (sql) => sql`
      select s.sealed_at as at, 'up to here by seal ' || c.size || ', signed ' || ${utc(sql, 'c.signed_at')} as answer
      from (select size, signed_at from checkpoints order by size desc limit 1) c join seals s on s.number = c.size`,
  },
  {
    question: 'Who may do what?',
    where: ['audit report', 'doctor (its lines roles, grants)', 'drizzle/rights.sql'],
    none: 'the roles are not there',
    ask: (sql, { rolePrefix }) => sql`
      select clock_timestamp() as at, role || ' ' || may || '; its logins: ' || coalesce(logins, 'none') as answer
      from (values ('owner', 'owns everything and migrates'), ('app', 'is api, the jobs and the commands'), ('poller', 'sends'),
                   ('core', 'appends events'), ('migrator', 'imports history'), ('auditor', 'reads the views of auditors'),
                   ('auditor_cpf', 'sees CPFs in them')) known (name, may)
      cross join lateral (select ${rolePrefix} || '_' || name as role) named
      join pg_roles r on r.rolname = role
      cross join lateral (select string_agg(m.member::regrole::text, ', ') as logins from pg_auth_members m where m.roleid = r.oid) held
      union all
      select clock_timestamp(), 'superusers may everything: ' || string_agg(rolname, ', ') from pg_roles where rolsuper and rolcanlogin having count(*) > 0`,
  },
  {
    question: 'What changed in the interface?',
    where: ['GET /v1/auditoria/sistema?sobre=catalogo', 'GET /docs/mudancas (by version)'],
    none: 'nothing since the installation: the events are those of its catalog',
    ask: (sql) => sql`
      select changed_at as at, name || coalesce(' is of version ' || (value::json ->> 'versao'), ' is gone') || ', by ' || actor as answer
      from system_history where about = 'catalogo'`,
  },
];

/** Each question with its answers, {@link MAX_ANSWERS} at most. */
export async function report(sql: Tx, about: About) {
  const answered = [];
  for (const { question, where, none, ask } of QUESTIONS) {
    const rows = await sql<
      Answer[]
    >`select at, answer from (${ask(sql, about)}) found order by at desc, answer limit ${MAX_ANSWERS + 1}`;
    const answers = rows.slice(0, MAX_ANSWERS).map(({ at, answer }) => ({ at, answer: masked(answer) }));
    answered.push({ question, where, none, answers, hasMore: rows.length > MAX_ANSWERS });
  }
  return answered;
}
