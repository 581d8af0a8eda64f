/**
 * What evidence costs beside the deliveries: sealing a row, verifying a million of them and one day's more, and the proof of a
 * delivery beside ten years of seals. Those are made up, with a true tree above them.
 */
import { createHash } from 'node:crypto';
import { sealAll } from '../../../src/audit/seals/sealer.ts';
import { GrowingTree } from '../../../src/audit/seals/tree/growing-tree.ts';
import { readProof } from '../../../src/audit/proof/proof.ts';
import { Pool, type Sql } from '../../../src/db/pool.ts';
import { sealAndSign } from '../../support/checkpoint.ts';
import { startCommand } from '../../support/command.ts';
import { FAILED_MARGIN } from '../../support/payloads.ts';
import { carteiro } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { percentile } from '../harness/statistics.ts';

const DATABASE = 'evidence';
const IN_TRANSACTION = 500;
const PROOFS = 1_000;
/** Of each delivery that is proved: a whole schedule, each attempt in a seal of its own. */
const ATTEMPTS = 6;

/** Events, each with its delivery and the attempt by which it arrived: two rows to seal each. */
function deliver(sql: Sql, events: number) {
  return sql.unsafe(`
    do $$
    begin
      for turn in 1 .. ${events / IN_TRANSACTION} loop
        with made as (
          insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, catalog_version, seen)
          select uuidv7(), 1, 'margem.falhou', (select partner_id from webhooks limit 1), '${FAILED_MARGIN}', now(), 'bench', 1, 1,
                 pg_current_snapshot()
          from generate_series(1, ${IN_TRANSACTION})
          returning id, partner_id, salt
        ), sent as (
          insert into deliveries (event_id, webhook_id, partner_id, status, attempts, finished_at)
          select made.id, w.id, made.partner_id, 'entregue', 1, now() from made, (select id from webhooks limit 1) w
          returning id, event_id, webhook_id, partner_id
        )
        insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms,
                              url, address, key_id, claim, answer, body_digest)
        select sent.id, 1, sent.event_id, sent.webhook_id, sent.partner_id, 'entregue', 200, now(), 12,
               'https://parceiro.example.com/webhooks/carteiro', '192.0.2.17', 'k1', 'bench/1', 'ok', sha256(salt)
        from sent join made on made.id = sent.event_id;
        commit;
      end loop;
    end $$`);
}

/** Seals of rows that are nowhere, and the hashes above them: `count` turns of a sealer, all of an epoch before this one. */
async function makeSeals(sql: Sql, count: number): Promise<void> {
  await sql`
    insert into seals (number, first_epoch, first_tx, end_epoch, end_tx, rows, root, sealed_at, leaf)
    select n, 0, n - 1, 0, n, 1, sha256('x'), '2016-01-01', sha256(int8send(n)) from generate_series(1, ${count}::bigint) n`;
  const tree = new GrowingTree();
  const nodes: { level: number; index: number; hash: Buffer }[] = [];
  const bytes = Buffer.alloc(8);
  for (let number = 1; number <= count; number += 1) {
    bytes.writeBigInt64BE(BigInt(number));
    for (const { size, root } of tree.append(createHash('sha256').update(bytes).digest())) {
      const level = Math.log2(size) / 8;
      if (Number.isInteger(level)) nodes.push({ level, index: number / size - 1, hash: root });
    }
  }
  for (let from = 0; from < nodes.length; from += 5_000) {
    await sql`insert into seal_nodes ${sql(nodes.slice(from, from + 5_000), 'level', 'index', 'hash')}`;
  }
}

/** Seconds that the command takes, its start included. */
async function verify(url: string, ...more: string[]): Promise<number> {
  const startedMs = performance.now();
  const env = { DATABASE_URL: url, SANDBOX: 'true', LOG_LEVEL: 'warn' };
  const { code, stdout, stderr } = await startCommand(['audit', 'verify', ...more], env).end();
  if (code !== 0) throw new Error(stderr || stdout);
  return (performance.now() - startedMs) / 1_000;
}

/** Microseconds a row. */
async function seal(pool: Pool): Promise<number> {
  const startedMs = performance.now();
  const { rows } = await sealAll(pool);
  return ((performance.now() - startedMs) * 1_000) / rows;
}

async function measureVerify({ server, receiver, isQuick, progress }: Bench): Promise<Measured[]> {
  const rows = isQuick ? 20_000 : 1_000_000;
  await carteiro.seed(server, DATABASE, receiver.url, 0, 1);
  const url = server.urlOf(DATABASE);
  const pool = new Pool({ url, name: 'bench', max: 2, deadlineMs: 600_000 });
  try {
    await progress.phase(`${rows} rows`, 900, () => server.on(DATABASE, (sql) => deliver(sql, rows / 2)));
    await server.on(DATABASE, (sql) => sql`vacuum analyze`);
    const sealing = await progress.phase('sealing', 300, () => seal(pool));
    const whole = await progress.phase('verifying', 300, () => verify(url));
    await server.on(DATABASE, (sql) => deliver(sql, rows / 20));
    await seal(pool);
    const day = await progress.phase('verifying a day more', 300, () => verify(url, '--since', 'last'));
    return [
      reported('seal_row', 'sealing a row', sealing, 'µs', atMost(5)),
      reported('verify_whole', `audit verify, ${rows} rows`, whole, 's', atMost(3)),
      reported('verify_day', `… --since last, ${rows / 10} rows more`, day, 's'),
    ];
  } finally {
    await pool.close();
    await server.drop(DATABASE);
  }
}

async function measureProof({ server, receiver, isQuick, progress }: Bench): Promise<Measured[]> {
  const count = isQuick ? 10_000 : 10_000_000;
  await carteiro.seed(server, DATABASE, receiver.url, 0, 1);
  const pool = new Pool({ url: server.urlOf(DATABASE), name: 'bench', max: 2, deadlineMs: 600_000 });
  try {
    await progress.phase(`${count} seals`, 1_800, () => server.on(DATABASE, (sql) => makeSeals(sql, count)));
    await server.on(DATABASE, (sql) => deliver(sql, 20_000));
    for (let attempt = 2; attempt <= ATTEMPTS; attempt += 1) {
      await sealAndSign(pool);
      await server.on(
        DATABASE,
        (sql) => sql`
        insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms,
                              url, address, key_id, claim, answer, body_digest)
        select delivery_id, ${attempt}, event_id, webhook_id, partner_id, outcome, status_code, now(), duration_ms, url, address,
               key_id, claim, answer, body_digest
        from attempts where number = 1`,
      );
    }
    await sealAndSign(pool);
    await server.on(DATABASE, (sql) => sql`vacuum analyze`);
    const ids = await server.on(DATABASE, (sql) => sql<{ id: string }[]>`select id from deliveries limit ${PROOFS}`);
    const took: number[] = [];
    let bytes = 0;
    for (const { id } of ids) {
      const startedMs = performance.now();
      const text = JSON.stringify(await readProof(pool, id));
      took.push(performance.now() - startedMs);
      bytes = Math.max(bytes, text.length);
    }
    return [
      reported(
        'proof_p99',
        `a proof of ${ATTEMPTS} attempts beside ${count} seals, p99`,
        percentile(took, 0.99),
        'ms',
        atMost(50),
      ),
      reported('proof_bytes', '… the largest', bytes, 'B', atMost(20_000)),
    ];
  } finally {
    await pool.close();
    await server.drop(DATABASE);
  }
}

export const evidence: Figure = {
  id: 'evidence',
  about: 'sealing a row, verifying a million rows and a day more',
  run: measureVerify,
};

export const proofs: Figure = {
  id: 'proofs',
  about: 'a proof beside ten million seals',
  run: measureProof,
};
