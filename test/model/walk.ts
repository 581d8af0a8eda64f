/** A seeded walk through the model: pollers that claim, send, crash, report late or twice, and a clock that moves. */
import { createRandom, type Random } from '../support/random.ts';
import { born, DEADLINE_MS, LEASE_LEFT_TO_SEND_MS, LEASE_MS, type Life, type Step, take } from './delivery-model.ts';
import { firstBroken, type Post } from './invariants.ts';
import { nextSlot } from '../../src/contract/schedule.ts';

/** What one poller remembers of one claim. */
interface Ticket {
  readonly claim: string;
  readonly number: number;
  readonly claimedAt: number;
  sentAt: number | null;
  endedAt: number | null;
}

type Taking = typeof take;
const OUTCOMES = ['entregue', 'resposta_nao_2xx', 'erro_conexao', 'tempo_esgotado'];

class Walk {
  life: Life = born(0);
  now = 0;
  #random: Random;
  #take: Taking;
  #tickets: Ticket[] = [];
  #posts: Post[] = [];
  #booked = 0;
  #claims = 0;
  #active = true;

  constructor(random: Random, taking: Taking) {
    this.#random = random;
    this.#take = taking;
  }

  /** True when nothing more can happen to it. */
  get isOver(): boolean {
    return this.life.status !== 'pendente' && this.#tickets.length === 0;
  }

  step(): string | null {
    const kind = this.#random.below(100);
    if (kind < 22) this.#passTime();
    else if (kind < 42) return this.#claim();
    else if (kind < 50) return this.#apply({ kind: 'end', now: this.now });
    else if (kind < 62) this.#send();
    else if (kind < 82) return this.#report();
    else if (kind < 88) this.#tickets.splice(this.#random.below(this.#tickets.length + 1), 1);
    else if (kind < 94) return this.#release();
    else if (kind < 99) return this.#apply({ kind: 'advance', byMs: this.#random.below(4_000_000), now: this.now });
    else this.#active = this.#random.chance(0.9);
    return null;
  }

  #apply(step: Step): string | null {
    const before = this.life;
    const { life, sends } = this.#take(before, step);
    this.life = life;
    if (step.kind === 'end' && life.failures > before.failures) this.#booked += 1;
    if (step.kind === 'claim' && sends) {
      if (before.dueAt === null || before.dueAt > step.now) return 'claimed before it was due';
      if (before.claimedAt !== null) return 'claimed under another claim';
      this.#tickets.push({
        claim: step.claim,
        number: life.attempts,
        claimedAt: step.now,
        sentAt: null,
        endedAt: null,
      });
    }
    if (step.kind === 'end' && before.claimedAt !== null && life.claim === null) {
      if (before.claimedAt + LEASE_MS > step.now) return 'ended within its lease';
    }
    const broken = firstBroken({ before, after: life, posts: this.#posts, booked: this.#booked });
    if (broken !== null || life.failures === before.failures || life.status !== 'pendente') return broken;
    const endedAt = step.kind === 'report' ? step.endedAt : this.now;
    return life.dueAt === nextSlot(life.failures, endedAt) ? null : 'the schedule is exact';
  }

  #passTime(): void {
    const { claimedAt } = this.life;
    const dueAt = claimedAt === null ? this.life.dueAt : claimedAt + LEASE_MS;
    const choice = this.#random.below(4);
    if (choice === 0 && dueAt !== null && dueAt > this.now) this.now = dueAt - this.#random.below(2);
    else if (choice === 1) this.now += this.#random.below(LEASE_MS * 2);
    else this.now += this.#random.below(10_000);
  }

  #claim(): string | null {
    const claim = `p/${(this.#claims += 1)}`;
    return this.#apply({ kind: 'claim', claim, now: this.now, active: this.#active });
  }

  /** The rule that a poller keeps by its own clock. */
  #send(): void {
    const ticket = this.#tickets.at(-1);
    if (!ticket || ticket.sentAt !== null) return;
    if (ticket.claimedAt + LEASE_MS - this.now <= LEASE_LEFT_TO_SEND_MS) return;
    ticket.sentAt = this.now;
    this.#posts.push({ number: ticket.number, sentAt: this.now, endedAt: this.now + DEADLINE_MS });
  }

  #report(): string | null {
    const sent = this.#tickets.filter((ticket) => ticket.sentAt !== null);
    if (sent.length === 0) return null;
    const ticket = this.#random.pick(sent);
    const outcome = this.#random.chance(0.1) ? 'entregue' : this.#random.pick(OUTCOMES.slice(1));
    // A report that is repeated says the same.
    ticket.endedAt ??= Math.min(this.now, (ticket.sentAt ?? 0) + this.#random.below(DEADLINE_MS));
    const { endedAt } = ticket;
    const post = this.#posts.findLast((sentPost) => sentPost.number === ticket.number);
    if (post) post.endedAt = endedAt;
    if (this.#random.chance(0.8)) this.#tickets.splice(this.#tickets.indexOf(ticket), 1);
    return this.#apply({ kind: 'report', claim: ticket.claim, number: ticket.number, outcome, endedAt });
  }

  #release(): string | null {
    const unsent = this.#tickets.filter((ticket) => ticket.sentAt === null);
    if (unsent.length === 0) return null;
    const ticket = this.#random.pick(unsent);
    this.#tickets.splice(this.#tickets.indexOf(ticket), 1);
    return this.#apply({
      kind: 'release',
      claim: ticket.claim,
      now: this.now,
      delayMs: this.#random.pick([0, 60_000]),
    });
  }
}

export interface WalkResult {
  readonly steps: number;
  /** Deliveries by how they ended. */
  readonly ends: Readonly<Record<string, number>>;
  /** The first broken invariant, with the state that it was broken in. */
  readonly broken: { readonly step: number; readonly rule: string; readonly life: Life } | null;
}

/** Walks `steps` steps, one delivery after the other. `taking` replaces the model, to see the invariants fail. */
export function walk(seed: number, steps: number, taking: Taking = take): WalkResult {
  const random = createRandom(seed);
  const ends: Record<string, number> = {};
  let current = new Walk(random, taking);
  for (let step = 1; step <= steps; step += 1) {
    const rule = current.step();
    if (rule !== null) return { steps: step, ends, broken: { step, rule, life: current.life } };
    if (!current.isOver) continue;
    ends[current.life.status] = (ends[current.life.status] ?? 0) + 1;
    current = new Walk(random, taking);
  }
  return { steps, ends, broken: null };
}
