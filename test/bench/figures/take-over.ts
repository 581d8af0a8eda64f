/**
 * Take-over: one poller keeps a hundred lanes and has 512 sends open, another one is idle beside it, and the first is killed. Timed from the
 * statement that ends the dead poller, which comes after the grace, until the living one has sent as much to as many lanes again.
 */
import { appendEvents, createDatabase, insertWebhooks, startPoller } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { monotonicMs } from '../harness/clock.ts';
import { median } from '../harness/statistics.ts';
import { connect } from '../harness/server.ts';
import { pathsOf } from '../workload.ts';

const DATABASE = 'take_over';
const LANES = 100;
const OPEN = 512;
const BAR_MS = 200;

interface TakeOver {
  /** From the kill to the statement that ends the poller: the grace. */
  readonly detectedMs: number;
  /** From there until its lanes are the living poller's. */
  readonly keptMs: number;
  /** From there until so many POSTs of the living poller: half of the lanes, all, and all that was open. */
  readonly halfMs: number;
  readonly lanesMs: number;
  readonly openMs: number;
}

async function killOne({ server, receiver }: Bench): Promise<TakeOver> {
  const url = await createDatabase(server, DATABASE);
  const sql = connect(url);
  const partners = (await insertWebhooks(sql, receiver.url, pathsOf(LANES, 'hang'))).map(({ partnerId }) => partnerId);
  await receiver.behave([{ prefix: '/hang', answer: 'hang' }]);
  await receiver.reset();
  const dying = await startPoller(url, { POLLER_CAPACITY: String(OPEN) });
  await appendEvents(sql, partners, LANES * 20);
  await receiver.reached(OPEN);
  const living = await startPoller(url, { POLLER_CAPACITY: String(OPEN) });
  try {
    // The claims of the last POSTs are committed; what the living poller keeps by now is its share.
    const { posts } = await receiver.counters();
    const all = [LANES / 2, LANES, OPEN].map((count) => receiver.reached(posts + count));
    const killedMs = monotonicMs();
    await dying.end('SIGKILL');
    const isEnding = async () =>
      (
        await sql`
          select from pg_stat_activity
          where datname = ${DATABASE} and state = 'active' and pid <> pg_backend_pid() and query like '%lateral end_poller(%'`
      ).length > 0;
    while (!(await isEnding()));
    const detectedMs = monotonicMs();
    while (await isEnding());
    const keptMs = monotonicMs() - detectedMs;
    const [halfMs = 0, lanesMs = 0, openMs = 0] = (await Promise.all(all)).map((atMs) => atMs - detectedMs);
    return { detectedMs: detectedMs - killedMs, keptMs, halfMs, lanesMs, openMs };
  } finally {
    await living.end('SIGKILL');
    await sql.end({ timeout: 5 });
    await receiver.behave([]);
    await server.drop(DATABASE);
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const { progress, rounds } = bench;
  const all: TakeOver[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const took = await progress.phase(`take-over ${round}/${rounds}`, 60, () => killOne(bench));
    all.push(took);
    progress.note(
      `take-over ${round}/${rounds}: ended ${took.detectedMs.toFixed(0)} ms after the kill; lanes kept ${took.keptMs.toFixed(0)}, ` +
        `POSTs to half of them ${took.halfMs.toFixed(0)}, as many as lanes ${took.lanesMs.toFixed(0)}, all ${OPEN} ${took.openMs.toFixed(0)} ms later`,
    );
  }
  const of = (key: keyof TakeOver) => median(all.map((took) => took[key]));
  return [
    reported('take_over_detected', 'kill → the dead poller is ended', of('detectedMs'), 'ms'),
    reported('take_over_kept', 'its end → its lanes are the living poller’s', of('keptMs'), 'ms', atMost(BAR_MS)),
    reported('take_over_half', `its end → POSTs for ${LANES / 2} lanes`, of('halfMs'), 'ms'),
    reported('take_over_lanes', `its end → POSTs for ${LANES} lanes`, of('lanesMs'), 'ms'),
    reported('take_over_open', `its end → ${OPEN} POSTs`, of('openMs'), 'ms'),
  ];
}

export const takeOver: Figure = {
  id: 'take-over',
  about: `a poller with ${LANES} lanes and ${OPEN} open sends is killed: from its end until another one sends for it`,
  run,
};
