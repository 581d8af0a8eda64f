/**
 * How the receivers of a fault run answer, and when which fault strikes: both follow from the seed alone.
 */
import { createHash } from 'node:crypto';
import { createRandom } from '../support/random.ts';

/** What the receiver does with one POST. `delayMs` is before the status line. */
export interface Treatment {
  readonly kind: 'answer' | 'reset' | 'half' | 'drip-body' | 'drip-head' | 'hang';
  readonly status: number;
  readonly delayMs: number;
}

const answer = (status: number, delayMs = 0): Treatment => ({ kind: 'answer', status, delayMs });
const misbehave = (kind: Treatment['kind'], status = 0): Treatment => ({ kind, status, delayMs: 0 });

/** A number from 0 to below 1 that depends on the seed, the event, the endpoint and how often it was POSTed there. */
function drawOf(seed: number, path: string, stream: string, post: number): number {
  return createHash('sha256').update(`${seed}/${path}/${stream}/${post}`).digest().readUInt32BE() / 2 ** 32;
}

/**
 * The treatment of the `post`-th POST of a stream's event to an endpoint, by the kind that its path names. `haste` spares
 * waits. Delivery ids are the database's, new in each run; streams are the load's own.
 */
export function treatmentOf(seed: number, path: string, stream: string, post: number, haste: boolean): Treatment {
  if (path.startsWith('/dead')) return answer(500);
  if (path.startsWith('/silent')) return misbehave(haste ? 'reset' : 'hang');
  const draw = drawOf(seed, path, stream, post);
  if (path.startsWith('/healthy')) return answer(200, draw * 20);
  const longMs = haste ? 1_000 : 29_000;
  if (draw < 0.02) return answer(draw < 0.01 ? 503 : 302);
  if (draw < 0.03) return misbehave('reset');
  if (draw < 0.04) return misbehave('half');
  if (draw < 0.045) return misbehave('drip-body', 200);
  if (draw < 0.046) return haste ? misbehave('reset') : misbehave('drip-head');
  if (draw < 0.048) return haste ? misbehave('half') : misbehave('hang');
  // On time by a hair, and too late.
  if (draw < 0.049) return answer(200, longMs);
  if (draw < 0.05) return answer(200, longMs + 2_500);
  return answer(200, draw < 0.2 ? draw * 500 : draw * 10);
}

const FAULTS = ['kill', 'stop', 'freeze', 'cut', 'black-hole', 'pair'] as const;
export type FaultKind = (typeof FAULTS)[number];

export interface Fault {
  readonly kind: FaultKind;
  readonly atMs: number;
  /** From 0 to below 1: the fault's own choices. */
  readonly draw: number;
}

/** Each kind of fault spread over the span, jittered, in order of time. */
export function scheduleFaults(seed: number, spanMs: number, counts: Readonly<Record<FaultKind, number>>): Fault[] {
  const random = createRandom(seed);
  const faults = FAULTS.flatMap((kind) => {
    const gapMs = spanMs / counts[kind];
    return Array.from({ length: counts[kind] }, (_, index) => ({
      kind,
      atMs: (index + 0.1 + random.next() * 0.8) * gapMs,
      draw: random.next(),
    }));
  });
  return faults.sort((one, other) => one.atMs - other.atMs);
}
