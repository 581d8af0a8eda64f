/**
 * The sandbox's own receiver: it shows each delivery and verifies its signature, and can be told to fail, to hang, to answer
 * late or to break the connection. It uses a bounded part of this process's memory.
 *
 * It keeps only POSTs that name a delivery of the partner, so outsiders cannot fill it. A homologação's POSTs name none: it
 * verifies and answers them with the secrets of the webhooks that lead here. It refuses an unsigned one immediately.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  HEADER_DELIVERY,
  HEADER_EVENT,
  HEADER_PREVIOUS_SIGNATURE,
  HEADER_SIGNATURE,
  HEADER_TEST,
} from '../../contract/delivery.ts';
import { id as uuid } from '../../contract/values.ts';
import type { Pool } from '../../db/pool.ts';
import { sign, signingKey } from '../../delivery/sending/signature.ts';
import type { Vault } from '../../webhooks/secrets.ts';

/** Less and more than an attempt waits for its answer. */
const LATE_MS = 5_000;
const HANG_MS = 35_000;

/** What the receiver answers to what is signed (0: the connection is reset), and after how long. */
const ANSWERS = {
  aceita: [204, 0],
  falha: [500, 0],
  indisponivel: [503, 0],
  redireciona: [302, 0],
  html: [200, 0],
  demora: [204, LATE_MS],
  trava: [204, HANG_MS],
  derruba: [0, 0],
  tls: [204, 0],
} as const;
export type Behaviour = keyof typeof ANSWERS;
export const BEHAVIOURS = Object.keys(ANSWERS) as Behaviour[];

export interface Arrived {
  readonly at: Date;
  readonly deliveryId: string;
  readonly event: string;
  readonly isSigned: boolean;
  readonly status: number;
  readonly body: string;
}

/** The newest deliveries of a partner, and what their bodies may hold in all: ordinary ones are a few hundred characters. */
const KEPT = 50;
const KEPT_CHARACTERS = 131_072;
const PARTNERS = 200;
/** Answers that are held back at once, of all partners. */
const HELD = 50;
/** Webhooks whose secrets a POST that names no delivery is tried with, the newest ones. */
const TRIED = 32;

interface Box {
  behaviour: Behaviour;
  readonly arrived: Arrived[];
}

export class Inbox {
  readonly #boxes = new Map<string, Box>();
  readonly #closing = new AbortController();
  readonly #deps: { readonly pool: Pool; readonly vault: Vault };
  #held = 0;

  constructor(deps: { readonly pool: Pool; readonly vault: Vault }) {
    this.#deps = deps;
  }

  arrived(partnerId: string): readonly Arrived[] {
    return this.#boxes.get(partnerId)?.arrived ?? [];
  }

  behaviour(partnerId: string): Behaviour {
    return this.#boxes.get(partnerId)?.behaviour ?? 'aceita';
  }

  behave(partnerId: string, behaviour: Behaviour): void {
    this.#box(partnerId).behaviour = behaviour;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Takes one POST in and says what to answer, at once or later; 0: nothing, the connection is to be reset. */
  async receive(partnerId: string, headers: Headers, body: Buffer): Promise<number> {
    const deliveryId = uuid.safeParse(headers.get(HEADER_DELIVERY));
    if (!deliveryId.success) return 404;
    const isTest = headers.get(HEADER_TEST) === '1';
    const { secrets, isDelivery } = await this.#addressed(partnerId, deliveryId.data, isTest);
    if (secrets.length === 0) return 404;
    const given = new Set([headers.get(HEADER_SIGNATURE), headers.get(HEADER_PREVIOUS_SIGNATURE)]);
    const isSigned = secrets.some((secret) => given.has(sign(signingKey(secret), body)));
    if (!isDelivery && !isSigned) return 401;
    const box = this.#box(partnerId);
    const [wanted, holdMs] = ANSWERS[box.behaviour];
    const status = isSigned ? wanted : 401;
    const event = headers.get(HEADER_EVENT) ?? '';
    if (isDelivery) {
      const text = body.toString('utf8');
      box.arrived.unshift({ at: new Date(), deliveryId: deliveryId.data, event, isSigned, status, body: text });
      box.arrived.splice(KEPT);
      while (box.arrived.reduce((sum, one) => sum + one.body.length, 0) > KEPT_CHARACTERS) box.arrived.pop();
    }
    if (holdMs > 0) await this.#hold(holdMs);
    return status;
  }

  async #hold(ms: number): Promise<void> {
    if (this.#held >= HELD) return;
    this.#held += 1;
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    this.#held -= 1;
  }

  #box(partnerId: string): Box {
    const known = this.#boxes.get(partnerId);
    if (known !== undefined) return known;
    const [oldest] = this.#boxes.keys();
    if (this.#boxes.size >= PARTNERS && oldest !== undefined) this.#boxes.delete(oldest);
    const made: Box = { behaviour: 'aceita', arrived: [] };
    this.#boxes.set(partnerId, made);
    return made;
  }

  /** The secrets of the webhook that the delivery goes to; of a test that is no delivery, those of the webhooks that lead here. */
  async #addressed(partnerId: string, deliveryId: string, isTest: boolean) {
    const { pool, vault } = this.#deps;
    const rows = await pool.run(
      (sql) => sql<{ id: string; sealed: Buffer; previous: Buffer | null; isDelivery: boolean }[]>`
        select w.id, w.encrypted_secret as sealed, w.previous_encrypted_secret as previous, d.id is not null as "isDelivery"
        from webhooks w left join deliveries d on d.id = ${deliveryId} and d.webhook_id = w.id
        where w.partner_id = ${partnerId}
          and (d.id is not null or (${isTest} and w.active and w.url like ${`%/painel/caixa/${partnerId}`}))
        order by d.id is null, w.id desc
        limit ${TRIED}`,
    );
    const own = rows.filter(({ isDelivery }) => isDelivery);
    const isDelivery = own.length > 0;
    const secrets = (isDelivery ? own : rows).flatMap(({ id, sealed, previous }) =>
      [sealed, previous].flatMap((blob) => (blob === null ? [] : [vault.decrypt(id, blob).secret])),
    );
    return { secrets, isDelivery };
  }
}
