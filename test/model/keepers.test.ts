import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { KeptLanes } from '../../src/delivery/queue/lanes/kept-lanes.ts';
import { type Faults, walkOfKeepers } from './keepers.ts';

const WALKS = 120;
const STEPS = 600;
const SEED = 50;

function firstBroken(pollers: number, faults: Faults = {}, memory: typeof KeptLanes = KeptLanes): string | null {
  for (let seed = SEED; seed < SEED + WALKS; seed += 1) {
    const broken = walkOfKeepers(seed, STEPS, pollers, faults, memory);
    if (broken !== null) return broken;
  }
  return null;
}

describe('pollers that keep lanes', () => {
  test.each([1, 2, 3])('of %i, each delivery arrives, nothing flies twice, and every POST has its row', (pollers) => {
    expect(firstBroken(pollers)).toBeNull();
  });

  test.each<[string, Faults]>([
    ['a keeper that is not one', { anybodyClaims: true }],
    ['a take-over that does not ask what flies', { forgetsFlights: true }],
    ['a take-over that does not ask what is due', { forgetsDue: true }],
    ['a snapshot without the transactions that run', { forgetsRunning: true }],
    ['claims that are closed before they are recorded', { closesEarly: true }],
    ['a frozen poller whose claims end at once', { endsFrozen: true }],
    ['a poller that goes on after it was taken for gone', { remembersLanes: true }],
    ['lanes taken as of a later snapshot', { followsFromNow: true }],
    ['a loan of which a later one passes an earlier', { passesEarlier: true }],
    ['a loan of which two are in flight', { passesFlying: true }],
    ['an end in the place of a poller that it does not hear of', { endsInSilence: true }],
  ])('are seen to break with %s', (_name, faults) => {
    expect(firstBroken(3, faults)).not.toBeNull();
  });
});

const FOLDER = path.resolve(import.meta.dirname, '../../src/delivery/queue/lanes');
const made: string[] = [];
afterAll(() => Promise.all(made.map((file) => rm(file))));

const FILES = ['kept-lanes.ts', 'handing-over.ts', 'lane-reading.ts', 'poll-plan.ts', 'kept-lane.ts'];

/** The memory with a change in one of its files, from files beside them that are gone afterwards. */
async function mutated(find: string, put: string): Promise<typeof KeptLanes> {
  const sources = await Promise.all(FILES.map((file) => readFile(path.join(FOLDER, file), 'utf8')));
  if (sources.join('').split(find).length !== 2) throw new Error(`the mutant no longer applies: ${find}`);
  const nameOf = (file: string) => file.replace('.ts', `.mutant-${process.pid}-${made.length}.ts`);
  const names = FILES.map(nameOf);
  for (const [index, source] of sources.entries()) {
    const text = FILES.reduce((now, file, at) => now.replaceAll(`'./${file}'`, `'./${names[at]}'`), source);
    const file = path.join(FOLDER, names[index] as string);
    await writeFile(file, text.replace(find, put));
  }
  made.push(...names.map((name) => path.join(FOLDER, name)));
  const main = path.join(FOLDER, names[0] as string);
  return ((await import(pathToFileURL(main).href)) as { KeptLanes: typeof KeptLanes }).KeptLanes;
}

/** The number of pollers in whose walks each is met (3 by default). */
test.each<[name: string, find: string, put: string, pollers?: number]>([
  ['a lane that is handed over in flight', '[all.filter(({ flying }) => flying.size === 0)', '[all', 2],
  ['a lane that was not handed over and stays closed', 'for (const lane of all) lane.isLeaving = false;', ''],
  ['two snapshots in one turn', 'lane.flying.get(row.id)?.number === row.number ||', ''],
  ['what ended during a turn, taken again', '|| this.#endedMeanwhile.get(row.id) === row.number', '', 1],
  ['a cursor that does not go back', 'if (before < lane.cursor) lane.cursor = before;', ''],
  [
    'what is left that does not wake its lane',
    "if (row.kind === 'left' && lane !== undefined) this.#reading.goBack(lane, row);",
    '',
  ],
  ['a failure that is not remembered', 'if (retryAt !== null) this.#reading.retryBy(lane, retryAt.getTime());', ''],
  ['an end that does not ask for the next of its loan', 'if (loan !== null) lane.loans?.end(loan);', ''],
  ['what came back during a turn, forgotten', 'for (const again of late) again();', ''],
  [
    'a resumption whose time runs out unheard',
    'if (lane.cursor !== FIRST || lane.mark !== NO_MARK) this.#reading.readFromStart(lane, 0);',
    '',
  ],
  ['a lane with more that is not ready', 'if (hasMore) this.ready.add(lane);', ''],
  ['a window that does not count what flies', 'return Math.max(cap - flying.size, 0);', 'return cap;'],
  [
    'a lane with little room that takes as much as another',
    'else if (room < MOST_EACH || lane.isResting) {',
    'else if (room < 0) {',
  ],
  ['what a record tells nothing of, at its place before', 'this.#reading.goBack(lane, { id, dueAt: null });', ''],
  [
    'the same, among the retries',
    'this.complete(webhookId, id, number, new Date(0));',
    'this.complete(webhookId, id, number, null);',
  ],
  [
    'flights of an earlier keeper that never end',
    'if (flight?.isForeign === true) this.recheck(webhookId, id, flight.number);',
    '',
  ],
])('the walks see %s', async (_name, find, put, pollers = 3) => {
  expect(firstBroken(pollers, {}, await mutated(find, put))).not.toBeNull();
});
