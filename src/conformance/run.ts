/**
 * One run of the checks against one receiver, and the verdict. Until the receiver has accepted our own delivery, the run sends
 * only POSTs that may explain the refusal, because the receiver may not have asked for any.
 *
 * A run is bounded: POSTs are sequential except in a check's rounds, each has the sender's deadline, none begins after
 * {@link RUN_MS}, and checks that have not run do not apply. `seen` never has an answer's text.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CheckCode, PROMPT_MS } from '../contract/conformance/words.ts';
import { bodyOf, type SendResult } from '../delivery/sending/send.ts';
import { CHECK_CODES, CHECKS, type Check, PROBES, type Schemes } from './checks.ts';
import type { Kit, Post } from './post.ts';

const RUN_MS = 300_000;
const IDLE_MS = 60_000;
/** How long the sender of a run keeps a connection: longer than the minute of silence. */
export const KEEPS_MS = IDLE_MS + 10_000;

export interface Seen {
  /** Null: no answer. */
  readonly status: number | null;
  readonly ms: number;
  readonly error: string | null;
  /** A page of HTML, or more than a receiver of webhooks says. */
  readonly isStrange?: true;
}

type Verdict = 'passou' | 'falhou' | 'nao_se_aplica';
/** Why a check does not apply: our own delivery was not accepted, no time was left, or the receiver does not read that signature. */
export type Unjudged = 'propria' | 'tempo' | 'esquema' | 'parada';

export interface Judged {
  readonly code: CheckCode;
  readonly verdict: Verdict;
  readonly seen: readonly Seen[];
  readonly why?: Unjudged;
}

export interface RunDeps {
  readonly send: (post: Post) => Promise<SendResult>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs: () => number;
  /** How long the connection is left idle. */
  readonly idleMs?: number;
  readonly stopping: AbortSignal;
  /** Told of each check as it is judged. */
  readonly note: (judged: Judged) => Promise<void>;
}

const isAccepted = ({ status }: Seen) => status !== null && status >= 200 && status < 300;

export async function runChecks(kit: Kit, deps: RunDeps): Promise<readonly Judged[]> {
  const endsMs = deps.monotonicMs() + RUN_MS;
  const judged: Judged[] = [];
  let schemes: Schemes = { standardAlone: true, contractAlone: true };
  for (const code of CHECK_CODES) {
    const one = await runCheck(code, kit, deps, { judged, schemes, endsMs });
    judged.push(one);
    await deps.note(one);
    if (code === 'propria' && one.verdict === 'passou') schemes = await probe(kit, deps);
  }
  return judged;
}

interface Before {
  readonly judged: readonly Judged[];
  readonly schemes: Schemes;
  readonly endsMs: number;
}

async function runCheck(code: CheckCode, kit: Kit, deps: RunDeps, before: Before): Promise<Judged> {
  const check: Check = CHECKS[code];
  if (!('rounds' in check)) return judgeAll(code, check.expects, before.judged);
  const [own] = before.judged;
  // Where our own delivery was not accepted, a refusal proves nothing.
  const isKnown = own === undefined || own.seen.every(isAccepted);
  const mayExplain = check.explains === true && own?.seen[0]?.status !== null;
  if (!isKnown && !mayExplain) return unjudged(code, 'propria');
  if (deps.stopping.aborted) return unjudged(code, 'parada');
  if (deps.monotonicMs() >= before.endsMs) return unjudged(code, 'tempo');
  const seen = await sendRounds(check.rounds(kit, before.schemes), check.idles === true, deps);
  const binds = check.binds?.(before.schemes) ?? true;
  if (check.expects === 'accepted') {
    if (seen.every(isAccepted)) return { code, verdict: 'passou', seen };
    return binds ? { code, verdict: 'falhou', seen } : unjudged(code, 'esquema', seen);
  }
  if (!binds) return unjudged(code, 'esquema', seen);
  // Whoever does not answer has not refused.
  if (seen.some((one) => isAccepted(one) || one.status === null)) return { code, verdict: 'falhou', seen };
  return isKnown ? { code, verdict: 'passou', seen } : unjudged(code, 'propria', seen);
}

function unjudged(code: CheckCode, why: Unjudged, seen: readonly Seen[] = []): Judged {
  return { code, verdict: 'nao_se_aplica', seen, why };
}

async function probe(kit: Kit, { send }: RunDeps): Promise<Schemes> {
  const standardAlone = isAccepted(seenOf(await send(PROBES.standardAlone(kit))));
  const contractAlone = isAccepted(seenOf(await send(PROBES.contractAlone(kit))));
  return { standardAlone, contractAlone };
}

async function sendRounds(rounds: readonly (readonly Post[])[], idles: boolean, deps: RunDeps): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const [index, posts] of rounds.entries()) {
    if (idles && index > 0) {
      await sleep(deps.idleMs ?? IDLE_MS, undefined, { signal: deps.stopping }).catch(() => undefined);
    }
    seen.push(...(await Promise.all(posts.map((post) => deps.send(post)))).map(seenOf));
  }
  return seen;
}

/** Of all that was accepted: the slowest answers, or those that no receiver of webhooks gives. */
function judgeAll(code: CheckCode, expects: 'slowest' | 'strangest', judged: readonly Judged[]): Judged {
  const all = judged.flatMap(({ seen }) => seen.filter(isAccepted));
  const bad = all.filter(({ ms, isStrange }) => (expects === 'slowest' ? ms > PROMPT_MS : isStrange === true));
  if (bad.length > 0) return { code, verdict: 'falhou', seen: bad };
  const slowest = all.toSorted((one, other) => other.ms - one.ms).slice(0, 1);
  if (all.length === 0) return unjudged(code, 'propria');
  return { code, verdict: 'passou', seen: slowest };
}

const STRANGE_BYTES = 8_192 - 32;
const HTML_START = /^[\uFEFF\s]*(?:<!--[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)[\s>]/i;

function seenOf({ statusCode, durationMs, error, answer }: SendResult): Seen {
  const body = bodyOf(answer ?? '');
  const isStrange = HTML_START.test(body.slice(0, 512)) || Buffer.byteLength(body) >= STRANGE_BYTES;
  return { status: statusCode, ms: durationMs, error, ...(isStrange && { isStrange }) };
}
