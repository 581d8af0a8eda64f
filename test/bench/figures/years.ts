/**
 * Years that leave month by month, as `maintain` takes them in life: every month loans begin, others end, and all that is older than
 * three months goes to files, events of loans that are over among it. Then what is left on the disk, what reads take out of the files,
 * and what `audit verify` of all takes. Rows are inserted, not delivered: their columns are those of deliveries that arrived at once.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Archives } from '../../../src/archive/archived-rows.ts';
import { readMonths } from '../../../src/archive/acts.ts';
import { readManifest } from '../../../src/archive/manifest.ts';
import { openPlace } from '../../../src/archive/place.ts';
import { readTable } from '../../../src/archive/verify-month.ts';
import { sealAll } from '../../../src/audit/seals/sealer.ts';
import { EVENT_EXAMPLES } from '../../../src/contract/event-examples.ts';
import { addMonths, dayOf } from '../../../src/contract/calendar.ts';
import { readLoan } from '../../../src/core/loans/read-loan.ts';
import { indexWorkers } from '../../../src/core/workers/worker-index.ts';
import { workerKeyOf } from '../../../src/core/workers/worker-key.ts';
import { readSent } from '../../../src/delivery/partner/read-sent.ts';
import { countHours } from '../../../src/delivery/queue/maintenance/hour-counter.ts';
import { uuidOf } from '../../../src/db/binary-record.ts';
import { Pool, type Sql } from '../../../src/db/pool.ts';
import { fold, type LoanEvent } from '../../../src/loan/evolve.ts';
import { backdateSeals } from '../../support/backdated-seals.ts';
import { startProgram } from '../../support/command.ts';
import { loanHistory } from '../../support/history.ts';
import { createRandom } from '../../support/random.ts';
import { cpfOf } from '../../support/tax-ids.ts';
import { makeTestFolder } from '../../support/test-folder.ts';
import { createDatabase, insertWebhooks } from '../carteiro.ts';
import { atLeast, atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { cpuOf, cpuOfServer, memoryOf } from '../harness/cpu.ts';
import { percentile } from '../harness/statistics.ts';
import { pathsOf } from '../workload.ts';

const DATABASE = 'years';
const MAIN = path.resolve(import.meta.dirname, '../../../src/main.ts');
const WEBHOOKS = 20;
/** Months that stay. */
const KEEP = 3;
/** Of a commit, so that a month is a few hundred transactions. */
const LOANS_A_COMMIT = 200;
const LOAN = '00000000-0000-7000-8000-000000000000';
const CPF = '52998224725';
/** A loan's life: its contract, which nobody is sent, and five events of a delivery each. The last one comes LIFE months after the others, of one loan in five at once. */
const LIFE = 12;
const STEPS = [
  'assinatura.concluida',
  'averbacao.falhou',
  'averbacao.falhou',
  'averbacao.falhou',
  'trabalhador.desligado',
] as const;
const LAST = 1 + STEPS.length;
const [CONTRACT] = loanHistory('', 0, new Date(0));
const NUMBER = String(CONTRACT?.data['numero']);

/** The events of a loan, in which a new loan's id, CPF and number replace these. */
const TEMPLATE = [
  { version: 1, type: 'emprestimo.contratado', data: { ...CONTRACT?.data, emprestimo_id: LOAN } },
  ...STEPS.map((type, index) => ({
    version: index + 2,
    type,
    data: { ...EVENT_EXAMPLES[type], emprestimo_id: LOAN, numero_emprestimo: NUMBER, cpf_trabalhador: CPF },
  })),
].map(({ version, type, data }) => {
  const { numero_emprestimo: _, cpf_trabalhador: __, ...plain } = data as Record<string, unknown>;
  return { version, type, data: version === 1 || version === LAST ? data : plain };
});

/** The loan's state behind its event number `version`, of `at`. */
function stateAt(version: number, at: Date): string {
  const events = TEMPLATE.slice(0, version).map(
    ({ type, data, version: nth }) => ({ type, data, version: nth, occurredAt: at }) as unknown as LoanEvent,
  );
  return JSON.stringify(fold(events));
}

interface Batch {
  readonly month: string;
  readonly first: number;
  readonly count: number;
  /** Of the month. */
  readonly at: Date;
}

/** Begins loans: all events but the last; the last of one in five. */
async function begin(sql: Sql, { month, first, count, at }: Batch): Promise<void> {
  const cpfs = Array.from({ length: count }, (_, n) => cpfOf(100_000_000 + (((first + n) * 7_919) % 800_000_000)));
  await insert(
    sql,
    sql`select uuidv7() as id, n, 1 + n % ${WEBHOOKS}::int as place, 1 as low, case when n % 5 = 0 then ${LAST}::int else ${LAST - 1}::int end as high,
               (${cpfs}::text[])[1 + n - ${first}::int] as cpf, ${month}::text || '-' || n as number
        from generate_series(${first}::int, ${first + count - 1}::int) n`,
    at,
  );
}

/** Ends loans that began LIFE months ago. */
async function end(sql: Sql, { month, first, count, at }: Batch): Promise<void> {
  const begun = addMonths(`${month}-01`, -LIFE).slice(0, 7);
  await insert(
    sql,
    sql`select l.id, n, 1 + n % ${WEBHOOKS}::int as place, ${LAST}::int as low, ${LAST}::int as high, l.state ->> 'workerCpf' as cpf, l.number
        from generate_series(${first}::int, ${first + count - 1}::int) n
        join numbered_loans k on k.number = ${begun}::text || '-' || n
        join loans l on l.id = k.loan_id and l.version = ${LAST - 1}`,
    at,
  );
}

async function insert(sql: Sql, loans: ReturnType<Sql>, at: Date): Promise<void> {
  const facts = TEMPLATE.map(({ version, type, data }) => ({ version, type, data: JSON.stringify(data) }));
  await sql`
    with hook as materialized (
      select row_number() over (order by w.id) as place, w.id, w.partner_id, t.id as target from webhooks w join targets t on t.url = w.url
    ),
    loan as materialized (
      select made.*, hook.id as webhook, hook.partner_id, hook.target, ${at}::timestamptz + n * interval '7 ms' as at
      from (${loans}) made join hook using (place)
    ),
    fact as materialized (
      select loan.*, f.version, f.type, uuidv7() as event, at + f.version * interval '1 s' as happened,
             replace(replace(replace(replace(f.data, ${LOAN}, loan.id::text), ${CPF}, cpf), 'Ana Souza', 'Trabalhador ' || n % 5000), ${NUMBER}, number)::json as data
      from loan cross join json_to_recordset(${JSON.stringify(facts)}::text::json) f (version int, type text, data text)
      where f.version between low and high
    ),
    event as (
      insert into events (id, stream, version, type, partner_id, data, occurred_at, actor, fan_out, catalog_version, is_of_loan)
      select event, id, version, type, partner_id, data, happened, 'nucleo', case when version > 1 then 1 end, 1, case when version > 1 then true end from fact order by n, version
      returning id, salt
    ),
    delivery as (
      insert into deliveries (event_id, webhook_id, partner_id, status, attempts, finished_at)
      select event, webhook, partner_id, 'entregue', 1, happened + interval '90 ms' from fact where version > 1 order by n, version
      returning id, event_id
    ),
    kept as (
      insert into loans (id, partner_id, version, state)
      select id, partner_id, high, replace(replace(replace(
               case high when ${LAST}::int then ${stateAt(LAST, at)}::text else ${stateAt(LAST - 1, at)}::text end, ${LOAN}, id::text), ${CPF}, cpf),
               ${NUMBER}, number)::jsonb
      from loan
      on conflict (id) do update set version = excluded.version, state = excluded.state
    ),
    numbered as (
      insert into numbered_loans (partner_id, number, loan_id) select partner_id, number, id from loan on conflict do nothing
    )
    insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, target,
                          claim, answer, body_digest, recorded_at)
    select d.id, 1, f.event, f.webhook, f.partner_id, 'entregue', 200, f.happened + interval '2 ms', 20 + n % 80, f.target,
           'poller-1/' || n, E'content-length: 2\n\nok',
           sha256(e.salt || envelope(f.type, f.happened, 'backoffice', f.partner_id, f.data)), f.happened + interval '100 ms'
    from fact f join event e on e.id = f.event join delivery d on d.event_id = f.event`;
}

/** One month's deliveries: loans that begin, and those whose last event comes now. */
async function fill(sql: Sql, month: string, nth: number, loans: number): Promise<void> {
  const from = Date.parse(`${month}-02T00:00:00Z`);
  for (let first = 0; first < loans; first += LOANS_A_COMMIT) {
    const at = new Date(from + (first / loans) * 25 * 86_400_000);
    const batch = { month, first, count: Math.min(LOANS_A_COMMIT, loans - first), at };
    await begin(sql, batch);
    if (nth >= LIFE) await end(sql, batch);
  }
}

async function run({ server, receiver, progress, isQuick, seed }: Bench): Promise<Measured[]> {
  const deliveries = isQuick ? 1_000 : Number(process.env['BENCH_YEARS_DELIVERIES'] ?? 20_000);
  const count = isQuick ? 5 : Number(process.env['BENCH_YEARS_MONTHS'] ?? 60);
  const thisMonth = `${dayOf(new Date()).slice(0, 7)}-01`;
  const all = Array.from({ length: count }, (_, n) => addMonths(thisMonth, n - count).slice(0, 7));
  const url = await createDatabase(server, DATABASE);
  const pool = new Pool({ url, name: DATABASE, max: 3, deadlineMs: 600_000 });
  const folder = await makeTestFolder();
  const key = workerKeyOf(Buffer.alloc(32, 5));
  const env = { DATABASE_URL: url, SANDBOX: 'true', LOG_LEVEL: 'warn', DATA_DIR: folder.path };
  const archive = path.join(folder.path, 'archive');
  const sum = { fill: 0, maintain: 0 };
  let [peakMiB, inside] = [0, 0];
  const sizes = async () => {
    await server.on(DATABASE, (sql) => sql`vacuum (analyze)`);
    const rows = await pool.run(
      (sql) => sql<{ name: string; bytes: number }[]>`
        select c.relname as name, pg_total_relation_size(c.oid)::float8 as bytes from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by 2 desc`,
    );
    return { total: rows.reduce((all, { bytes }) => all + bytes, 0), rows };
  };
  try {
    await server.on(DATABASE, async (sql) => {
      await insertWebhooks(sql, receiver.url, pathsOf(WEBHOOKS, 'y'));
      await sql`insert into targets (url, address, key_id) select url, '192.0.2.17', 'k1' from webhooks`;
    });
    const empty = (await sizes()).total;
    let made = 0;
    for (const [nth, month] of all.entries()) {
      const startedMs = performance.now();
      const last = await pool.run(
        (sql) => sql<[{ n: number }]>`select coalesce(max(number), 0)::float8 as n from seals`,
      );
      await server.on(DATABASE, (sql) => fill(sql, month, nth, Math.round(deliveries / 5)));
      await countHours(pool);
      await indexWorkers(pool, key);
      await sealAll(pool);
      await backdateSeals(pool, new Date(`${month}-28T12:00:00Z`), last[0].n);
      const filledMs = performance.now();
      sum.fill += filledMs - startedMs;
      if (nth === KEEP - 1) {
        made = await countOf(pool, 'deliveries');
        inside = ((await sizes()).total - empty) / made;
      }
      if (nth >= KEEP) {
        const keepMonths = String(count - nth + KEEP - 1);
        const done = await watch(['maintain'], { ...env, KEEP_MONTHS: keepMonths, ARCHIVE_TO: archive });
        peakMiB = Math.max(peakMiB, done.peakMiB);
        sum.maintain += done.cpuS;
      }
      progress.note(
        `${month}: filled in ${((filledMs - startedMs) / 1_000).toFixed(1)} s, maintained in ${((performance.now() - filledMs) / 1_000).toFixed(1)} s, peak ${peakMiB.toFixed(0)} MiB`,
      );
    }
    return [
      ...(await hot()),
      ...(await files()),
      ...(await reads()),
      ...(await verify()),
      reported('years_memory', 'memory of maintain, at most', peakMiB, 'MiB', atMost(400)),
      reported('years_fill', 'made in', sum.fill / 1_000, 's'),
      reported('years_maintain', 'maintain of all months, CPU of Node', sum.maintain, 's'),
    ];
  } finally {
    await pool.close();
    await folder.remove();
    await server.drop(DATABASE);
  }

  async function hot(): Promise<Measured[]> {
    const { total, rows } = await sizes();
    const within = await countOf(pool, 'deliveries');
    const [{ seals }] = await pool.run(
      (sql) => sql<[{ seals: number }]>`
        select (select sum(fan_out) from events)::float8 as seals`,
    );
    const archived = await archivedRows('deliveries');
    const outside = (total - within * inside) / archived;
    for (const { name, bytes } of rows.slice(0, 14)) progress.note(`${name}: ${(bytes / 1e6).toFixed(1)} MB`);
    progress.note(`${within} deliveries in rows, ${archived} in files, ${seals} events of deliveries in rows`);
    return [
      reported('years_inside', `rows and indexes of a delivery within ${KEEP} months`, inside, 'B', atMost(1_200)),
      reported('years_outside', 'hot bytes that stay of an older one', outside, 'B', atMost(250)),
    ];
  }

  async function partsOf() {
    const place = openPlace(archive, null);
    const found = [];
    for (const act of await pool.run(readMonths))
      found.push(...(await readManifest(place, act)).partes.flatMap(({ arquivos }) => arquivos));
    return found;
  }

  async function archivedRows(table: string): Promise<number> {
    return (await partsOf()).filter(({ tabela }) => tabela === table).reduce((rows, { linhas }) => rows + linhas, 0);
  }

  async function files(): Promise<Measured[]> {
    const parts = await partsOf();
    const of = (tables: readonly string[], by: string) => {
      const bytes = parts.filter(({ tabela }) => tables.includes(tabela)).reduce((all, one) => all + one.bytes, 0);
      return bytes / parts.filter(({ tabela }) => tabela === by).reduce((all, { linhas }) => all + linhas, 0);
    };
    return [
      reported(
        'years_delivery',
        'files, a delivery with its attempt',
        of(['deliveries', 'attempts'], 'deliveries'),
        'B',
        atMost(120),
      ),
      reported('years_event', 'files, an event', of(['events'], 'events'), 'B', atMost(150)),
    ];
  }

  async function reads(): Promise<Measured[]> {
    const archives = new Archives(pool, (name) => openPlace(name, null));
    pool.mend = archives.mend;
    const turns = isQuick ? 10 : 300;
    const random = createRandom(seed).next;
    const place = openPlace(archive, null);
    const events = (await partsOf()).filter(({ tabela }) => tabela === 'deliveries');
    const [oneMs, loanMs]: [number[], number[]] = [[], []];
    const away = await pool.run(
      (sql) => sql<{ id: string }[]>`
        select id from loans where away_digest is not null order by md5(id::text) limit ${turns}`,
    );
    const sample: { id: string; partnerId: string }[] = [];
    for (let n = 0; n < turns; n += 1) {
      const file = events[Math.floor(random() * events.length)] as (typeof events)[number];
      for await (const { rows } of readTable(place, file, ['id', 'partner_id'])) {
        const row = rows[Math.floor(random() * rows.length)];
        sample.push({ id: uuidOf(row?.['id']), partnerId: uuidOf(row?.['partner_id']) });
        break;
      }
    }
    const spent = () => cpuOf(process.pid) + cpuOfServer(server.postmaster);
    const beforeS = spent();
    for (const { id, partnerId } of sample) {
      const startedMs = performance.now();
      await readSent(
        pool,
        () => ({ secret: 'whsec_AAAA', keyId: 'bench' }),
        partnerId,
        id,
        [1],
        await archives.delivery(id),
      );
      oneMs.push(performance.now() - startedMs);
    }
    const [readS, betweenS] = [(spent() - beforeS) / turns, spent()];
    let back = 0;
    for (const { id } of away) {
      const isAway = await pool.run((sql) => sql`select from loans where id = ${id} and away_digest is not null`);
      const startedMs = performance.now();
      const state = await readLoan(pool, null, id, 1 + Math.floor(random() * LAST));
      const tookMs = performance.now() - startedMs;
      if (state === null) throw new Error(`loan ${id} could not be read`);
      loanMs.push(tookMs);
      back += isAway.length === 0 ? 1 : 0;
    }
    const loanS = (spent() - betweenS) / away.length;
    progress.note(`${away.length} loans, of which ${back} had come back with a delivery`);
    return [
      reported('years_read', 'any delivery as it was sent, p99', percentile(oneMs, 0.99), 'ms', atMost(1_000)),
      reported('years_read_p50', '… p50', percentile(oneMs, 0.5), 'ms'),
      reported('years_read_cpu', '… CPU of Node and PostgreSQL', readS * 1_000, 'ms'),
      reported('years_loan', 'any loan at any version, p99', percentile(loanMs, 0.99), 'ms', atMost(200)),
      reported('years_loan_p50', '… p50', percentile(loanMs, 0.5), 'ms'),
      reported('years_loan_cpu', '… CPU of Node and PostgreSQL', loanS * 1_000, 'ms'),
    ];
  }

  /** All of the log in one run; then a run that is killed on its way, and one that goes on with it. */
  async function verify(): Promise<Measured[]> {
    const reading = { ...env, ARCHIVE_TO: archive };
    const whole = await watch(['audit', 'verify'], reading);
    const { linhas, achados } = JSON.parse(whole.stdout) as { linhas: number; achados: { tipo: string }[] };
    // The seals were made at once, so they have another time than their rows.
    const strange = achados.filter(({ tipo }) => tipo !== 'hora_fora_do_selo');
    if (strange.length > 0) throw new Error(`audit verify: ${JSON.stringify(strange.slice(0, 3))}`);
    const places = async () => (await pool.run((sql) => sql`select from verify_verdicts where not finished`)).length;
    const before = await places();
    const killed = startLean(['audit', 'verify'], reading);
    const startedMs = performance.now();
    const half = whole.tookS * 500;
    while (
      performance.now() - startedMs < half ||
      ((await places()) === before && performance.now() - startedMs < 2 * half)
    )
      await sleep(100);
    await killed.end('SIGKILL');
    const beganS = (performance.now() - startedMs) / 1_000;
    const rest = await watch(['audit', 'verify', '--resume'], reading);
    progress.note(
      `verify: ${linhas} rows in ${whole.tookS.toFixed(1)} s; Node ${whole.cpuS.toFixed(1)} s, PostgreSQL ${whole.serverS.toFixed(1)} s of CPU, ${whole.peakMiB.toFixed(0)} MiB. ` +
        `Killed after ${beganS.toFixed(1)} s, resumed: ${rest.tookS.toFixed(1)} s, ${rest.stdout.slice(0, 120)}`,
    );
    return [
      reported('years_verify', `audit verify of ${linhas} rows`, linhas / whole.tookS, 'rows/s', atLeast(150_000)),
      reported(
        'years_verify_cpu',
        '… a CPU second of Node and PostgreSQL',
        linhas / (whole.cpuS + whole.serverS),
        'rows/s',
      ),
      reported('years_verify_memory', '… its memory', whole.peakMiB, 'MiB', atMost(400)),
      reported('years_resume', '… resumed, against from the start', rest.tookS / whole.tookS, '×'),
    ];
  }

  /** A command with its memory and its CPU. */
  async function watch(words: readonly string[], settings: Record<string, string>) {
    const running = startLean(words, settings);
    const [beganMs, beganS] = [performance.now(), cpuOfServer(server.postmaster)];
    let [peak, cpuS] = [0, 0];
    const look = () => {
      try {
        [peak, cpuS] = [Math.max(peak, memoryOf(running.pid)), Math.max(cpuS, cpuOf(running.pid))];
      } catch {
        // It is gone.
      }
    };
    const looking = setInterval(look, 50);
    const { code, stdout, stderr } = await running.end();
    clearInterval(looking);
    if (code !== 0 && words[0] !== 'audit') throw new Error(`${words.join(' ')}: ${stderr || stdout.slice(0, 2_000)}`);
    const tookS = (performance.now() - beganMs) / 1_000;
    return { stdout, peakMiB: peak, cpuS, tookS, serverS: cpuOfServer(server.postmaster) - beganS };
  }
}

/** A command with the heap of a job (main/maintenance/jobs.ts). */
function startLean(words: readonly string[], env: Record<string, string>) {
  const heap = ['--max-semi-space-size=8', '--max-old-space-size=192'];
  return startProgram([process.execPath, ...heap, MAIN, ...words], env);
}

async function countOf(pool: Pool, table: string): Promise<number> {
  const [{ count }] = await pool.run(
    (sql) => sql<[{ count: number }]>`select count(*)::float8 as count from ${sql(table)}`,
  );
  return count;
}

export const years: Figure = {
  id: 'years',
  about:
    'years that leave month by month, events of ended loans too: disk, reads, verification (BENCH_YEARS_MONTHS, BENCH_YEARS_DELIVERIES ' +
    'a month; 60 of 20,000 take 40 minutes)',
  run,
};
