/** The jobs that `api` runs by itself: each is a command, run when its schedule says so. */
import { Cron } from 'croner';
import { z } from 'zod';
import { addDays, dayOf, monthsBefore } from './contract/calendar.ts';

const ZONE = 'America/Sao_Paulo';
const HOUR_S = 3_600;

interface Job {
  /** The variable that sets its schedule. */
  readonly variable: string;
  /** Five fields of cron, by the time of São Paulo. */
  readonly usual: string;
  /** The words of the command line, at that moment. */
  readonly words: (now: Date) => readonly string[];
  /** Longer than it ever takes: then it is ended, for those behind it. */
  readonly longestS: number;
  /** True where exit code 1 is what the job found out, and another try would find it again. */
  readonly isVerdict: boolean;
  /** True where the partner of a sandbox does this himself, through /v1/sandbox. */
  readonly isPlayed: boolean;
  /** True where LOAN_CORE=outside leaves it to the lender's core. */
  readonly isOwnCore?: boolean;
  /** True where it needs REGISTRY_URL. */
  readonly asksRegistry?: boolean;
  /** True where it needs a place outside: one of ANCHOR_*. */
  readonly asksAnchors?: boolean;
}

export const JOBS = {
  balance: {
    variable: 'JOB_BALANCE',
    longestS: 4 * HOUR_S,
    usual: '30 2 * * *',
    // A week, because deliveries that are pending on the first night end within it. Settled days cost nothing.
    words: (now) => ['audit', 'balance', '--from', addDays(dayOf(now), -7), '--to', addDays(dayOf(now), -1)],
    isVerdict: true,
    isPlayed: false,
  },
  verify: {
    variable: 'JOB_VERIFY',
    longestS: 20 * HOUR_S,
    usual: '0 3 * * *',
    // Without --resume: the place of a run that was cut short is kept in the database that is checked.
    words: () => ['audit', 'verify'],
    isVerdict: true,
    isPlayed: false,
  },
  anchor: {
    variable: 'JOB_ANCHOR',
    longestS: 1 * HOUR_S,
    usual: '7 * * * *',
    words: () => ['audit', 'anchor'],
    asksAnchors: true,
    isVerdict: false,
    isPlayed: false,
  },
  drill: {
    variable: 'JOB_DRILL',
    longestS: 20 * HOUR_S,
    usual: '0 6 1 * *',
    words: () => ['audit', 'drill'],
    isVerdict: true,
    isPlayed: false,
  },
  maintain: {
    variable: 'JOB_MAINTAIN',
    longestS: 20 * HOUR_S,
    usual: '30 4 * * *',
    words: () => ['maintain'],
    isVerdict: false,
    isPlayed: false,
  },
  'sync-bonds': {
    variable: 'JOB_SYNC_BONDS',
    longestS: 2 * HOUR_S,
    usual: '0 1 * * *',
    words: () => ['sync-bonds'],
    isOwnCore: true,
    asksRegistry: true,
    isVerdict: false,
    isPlayed: true,
  },
  'close-settlement': {
    variable: 'JOB_CLOSE_SETTLEMENT',
    longestS: 4 * HOUR_S,
    usual: '0 4 1 * *',
    words: (now) => ['close-settlement', monthsBefore(dayOf(now), 1).slice(0, 7)],
    isOwnCore: true,
    isVerdict: false,
    isPlayed: true,
  },
} as const satisfies Readonly<Record<string, Job>>;

export type JobName = keyof typeof JOBS;
export const JOB_NAMES = Object.keys(JOBS) as JobName[];

/** Each job's schedule; null: it does not run by itself. */
export type Schedules = Readonly<Record<JobName, string | null>>;

/** True for what {@link nextAfter} can read: five fields of cron. */
function isSchedule(text: string): boolean {
  try {
    return text.trim().split(/\s+/).length === 5 && new Cron(text, { paused: true }).nextRun() !== null;
  } catch {
    return false;
  }
}

/** The first moment after `from` that a schedule names; null when there is none. */
export function nextAfter(schedule: string, from: Date): Date | null {
  return new Cron(schedule, { timezone: ZONE, paused: true }).nextRun(from);
}

const schedule = z
  .string()
  .refine((text) => text === 'off' || isSchedule(text), 'must be five fields of cron (30 2 * * *), or off')
  .optional();

/** The variables of the jobs. */
export const SCHEDULES = Object.fromEntries(JOB_NAMES.map((name) => [JOBS[name].variable, schedule])) as Record<
  (typeof JOBS)[JobName]['variable'],
  typeof schedule
>;

/**
 * What a sandbox's partner plays itself does not run by itself there; nor does what asks a registry that nobody has named, nor
 * what an outside core does.
 */
export function schedulesOf(
  values: { readonly [Variable in keyof typeof SCHEDULES]?: string | undefined },
  {
    sandbox,
    isOwnCore,
    hasRegistry,
    hasAnchors,
  }: {
    readonly sandbox: boolean;
    readonly isOwnCore: boolean;
    readonly hasRegistry: boolean;
    readonly hasAnchors: boolean;
  },
): Schedules {
  const of = (name: JobName): string | null => {
    const { usual, isPlayed, asksRegistry = false, asksAnchors = false, isOwnCore: isOurs = false }: Job = JOBS[name];
    const isLacking = (asksRegistry && !hasRegistry) || (asksAnchors && !hasAnchors);
    const isOff = (sandbox && isPlayed) || (isOurs && !isOwnCore) || isLacking;
    const set = values[JOBS[name].variable] ?? (isOff ? 'off' : usual);
    return set === 'off' ? null : set;
  };
  return Object.freeze(Object.fromEntries(JOB_NAMES.map((name) => [name, of(name)]))) as Schedules;
}
