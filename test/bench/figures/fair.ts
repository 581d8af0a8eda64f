/**
 * Fair: healthy webhooks at 100 events/s beside ones that hang to the 30 s deadline on 100,000 due rows: one hanging
 * beside 50, then 20 hanging of 50, then 400 of 8 partners, who register as many as they may. In turns with none hanging.
 * The first attempt's time runs from commit to arrival; throughput is what has arrived when the last event is a second old.
 * The turn lasts longer than a deadline, so that hanging attempts end and begin anew within it.
 */
import { insertBacklog } from '../backlog.ts';
import { createDatabase, insertWebhooks, startPoller, appendFor } from '../carteiro.ts';
import { atLeast, atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { median } from '../harness/statistics.ts';
import { appendAtRate, feel } from './arrivals.ts';
import { pathsOf } from '../workload.ts';

const RATE = 100;

interface Scenario {
  readonly id: string;
  readonly label: string;
  readonly healthy: number;
  readonly hanging: number;
  /** Whose the hanging ones are: so many partners'. */
  readonly partners: number;
  /** Of the p99 against none hanging. */
  readonly atMost: number;
}

const SCENARIOS: readonly Scenario[] = [
  { id: 'none', label: 'none hanging', healthy: 50, hanging: 0, partners: 0, atMost: 1 },
  { id: 'one', label: '1 hanging beside 50', healthy: 50, hanging: 1, partners: 1, atMost: 1.3 },
  { id: 'twenty', label: '20 hanging of 50', healthy: 30, hanging: 20, partners: 20, atMost: 1.3 },
  { id: 'partners', label: '400 of 8 partners hanging', healthy: 50, hanging: 400, partners: 8, atMost: 1.5 },
];

interface Turn {
  readonly p50: number;
  readonly p99: number;
  /** Share of the events that had arrived a second after the last. */
  readonly arrived: number;
}

async function seed({ server, receiver, isQuick }: Bench, { id, healthy, hanging, partners }: Scenario): Promise<void> {
  const due = isQuick ? 2_000 : 100_000;
  await createDatabase(server, `fair_${id}`);
  await server.on(`fair_${id}`, async (sql) => {
    await insertWebhooks(sql, receiver.url, pathsOf(healthy));
    const stuck = await insertWebhooks(sql, receiver.url, pathsOf(hanging, 'hang'), partners);
    for (const webhook of stuck) await insertBacklog(sql, webhook, due / hanging);
    await sql`vacuum (analyze)`;
  });
}

async function poll(bench: Bench, scenario: Scenario, name: string): Promise<Turn> {
  const { server, receiver, progress, isQuick } = bench;
  const seconds = isQuick ? 3 : 35;
  await server.drop('fair_now');
  const url = await server.create('fair_now', `fair_${scenario.id}`);
  const healthy = await server.on(
    'fair_now',
    (sql) => sql<{ partner: string }[]>`select partner_id as partner from webhooks where url like '%/h/%'`,
  );
  await server.calm();
  await receiver.behave([{ prefix: '/hang', answer: 'hang' }]);
  await receiver.reset();
  const poller = await startPoller(url);
  const write = appendFor(healthy.map(({ partner }) => partner));
  try {
    return await progress.phase(name, seconds + 60, async (report) => {
      await appendAtRate({ url, rate: RATE, seconds: isQuick ? 1 : 3, seed: bench.seed, write });
      return feel(receiver, { url, rate: RATE, seconds, seed: bench.seed + 1, write, report }, 1_000);
    });
  } finally {
    await poller.end('SIGKILL');
    await receiver.behave([]);
  }
}

async function run(bench: Bench): Promise<Measured[]> {
  const { server, progress } = bench;
  const rounds = Math.min(2, bench.rounds);
  for (const scenario of SCENARIOS) {
    await progress.phase(`fair, seeding ${scenario.label}`, 120, () => seed(bench, scenario));
  }
  const turns = new Map<string, Turn[]>(SCENARIOS.map(({ id }) => [id, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const scenario of SCENARIOS) {
      const name = `fair ${round}/${rounds}, ${scenario.label}`;
      const one = await poll(bench, scenario, name);
      turns.get(scenario.id)?.push(one);
      progress.note(
        `${name}: first attempt p50 / p99 ${one.p50.toFixed(1)} / ${one.p99.toFixed(1)} ms, ${(one.arrived * 100).toFixed(1)} % arrived`,
      );
    }
  }
  for (const { id } of SCENARIOS) await server.drop(`fair_${id}`);
  await server.drop('fair_now');
  const calm = turns.get('none') ?? [];
  const against = (id: string, key: keyof Turn) =>
    median((turns.get(id) ?? []).map((one, round) => one[key] / (calm[round] ?? one)[key]));
  const measured: Measured[] = [
    reported('fair_none_p99', 'healthy, first attempt p99, none hanging', median(calm.map((one) => one.p99)), 'ms'),
  ];
  for (const { id, label, atMost: bar } of SCENARIOS.slice(1)) {
    measured.push(
      reported(`fair_${id}_p99`, `healthy, p99 with ${label}`, against(id, 'p99'), '×', atMost(bar)),
      reported(
        `fair_${id}_throughput`,
        `healthy, throughput with ${label}`,
        against(id, 'arrived') * 100,
        '%',
        atLeast(95),
      ),
    );
  }
  return measured;
}

export const fair: Figure = {
  id: 'fair',
  about: 'healthy webhooks at 100 events/s while others hang for 30 s on 100,000 due rows',
  run,
};
