/** The jobs that `api` runs by itself: each is a scheduled command. */
import { Cron } from 'croner';
import { z } from 'zod';
import { addDays, dayOf, monthsBefore } from '../contract/calendar.ts';

const ZONE = 'America/Sao_Paulo';
const HOUR_S = 3_600;

interface Job {
  readonly variable: string;
  /** Default: five cron fields in São Paulo's time. */
  readonly usual: string;
  readonly words: (now: Date) => readonly string[];
  /** Longer than it ever takes; then it is ended for those behind it. */
  readonly longestS: number;
  /** Exit code 1 is the job's finding, which another try would repeat. */
  readonly isVerdict: boolean;
  /** Without these it runs by itself only where its variable says so. */
  readonly needs: readonly Need[];
}

/** `registry`: REGISTRY_URL; `anchors`: one of ANCHOR_*; `ownCore`: not LOAN_CORE=outside; `noSandbox`: a sandbox's partner does it itself. */
type Need = 'registry' | 'anchors' | 'ownCore' | 'noSandbox';

export const JOBS = {
  balance: {
    variable: 'JOB_BALANCE',
    longestS: 4 * HOUR_S,
    usual: '30 2 * * *',
    // A week, because deliveries pending on the first night end within it. Settled days cost nothing.
    words: (now) => ['audit', 'balance', '--from', addDays(dayOf(now), -7), '--to', addDays(dayOf(now), -1)],
    isVerdict: true,
    needs: [],
  },
  verify: {
    variable: 'JOB_VERIFY',
    longestS: 20 * HOUR_S,
    usual: '0 3 * * *',
    // Without --resume: a cut-short run's place is kept in the database that is checked.
    words: () => ['audit', 'verify'],
    isVerdict: true,
    needs: [],
  },
  anchor: {
    variable: 'JOB_ANCHOR',
    longestS: 1 * HOUR_S,
    usual: '7 * * * *',
    words: () => ['audit', 'anchor'],
    isVerdict: false,
    needs: ['anchors'],
  },
  drill: {
    variable: 'JOB_DRILL',
    longestS: 20 * HOUR_S,
    usual: '0 6 1 * *',
    words: () => ['audit', 'drill'],
    isVerdict: true,
    needs: [],
  },
  maintain: {
    variable: 'JOB_MAINTAIN',
    longestS: 20 * HOUR_S,
    usual: '30 4 * * *',
    words: () => ['maintain'],
    isVerdict: false,
    needs: [],
  },
  'sync-bonds': {
    variable: 'JOB_SYNC_BONDS',
    longestS: 2 * HOUR_S,
    usual: '0 1 * * *',
    words: () => ['sync-bonds'],
    isVerdict: false,
    needs: ['ownCore', 'registry', 'noSandbox'],
  },
  'close-settlement': {
    variable: 'JOB_CLOSE_SETTLEMENT',
    longestS: 4 * HOUR_S,
    usual: '0 4 1 * *',
    words: (now) => ['close-settlement', monthsBefore(dayOf(now), 1).slice(0, 7)],
    isVerdict: false,
    needs: ['ownCore', 'noSandbox'],
  },
} as const satisfies Readonly<Record<string, Job>>;

export type JobName = keyof typeof JOBS;
export const JOB_NAMES = Object.keys(JOBS) as JobName[];

/** Null: the job does not run by itself. */
export type Schedules = Readonly<Record<JobName, string | null>>;

/** True for what {@link nextAfter} can read: five cron fields. */
function isSchedule(text: string): boolean {
  try {
    return text.trim().split(/\s+/).length === 5 && new Cron(text, { paused: true }).nextRun() !== null;
  } catch {
    return false;
  }
}

/** The schedule's first moment after `from`; null: none. */
export function nextAfter(schedule: string, from: Date): Date | null {
  return new Cron(schedule, { timezone: ZONE, paused: true }).nextRun(from);
}

const schedule = z
  .string()
  .refine((text) => text === 'off' || isSchedule(text), 'must be five fields of cron (30 2 * * *), or off')
  .optional();

export const SCHEDULES = Object.fromEntries(JOB_NAMES.map((name) => [JOBS[name].variable, schedule])) as Record<
  (typeof JOBS)[JobName]['variable'],
  typeof schedule
>;

/** Those that are set, and of the others those whose needs are met. */
export function schedulesOf(
  values: { readonly [Variable in keyof typeof SCHEDULES]?: string | undefined },
  holds: Readonly<Record<Need, boolean>>,
): Schedules {
  const of = (name: JobName): string | null => {
    const { variable, usual, needs } = JOBS[name];
    const set = values[variable] ?? (needs.every((need) => holds[need]) ? usual : 'off');
    return set === 'off' ? null : set;
  };
  return Object.freeze(Object.fromEntries(JOB_NAMES.map((name) => [name, of(name)]))) as Schedules;
}
