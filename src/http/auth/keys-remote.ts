/**
 * The issuer's key set, fetched from its URL.
 *
 * Invariant: an outage of the issuer never looks like a bad token. The last good set stays in use. While the set cannot be
 * fetched, a key that it lacks is KeysUnavailable; only a fetched set refuses a key. A set with a broken key, or without a
 * usable one, counts as an outage; its good keys are used beside the last good set. An unknown key triggers a fetch, at most
 * once per cooldown, so forged key ids do not flood the issuer.
 * Alternative: jose's createRemoteJWKSet has no cooldown after a failure, and does not tell "unknown key" from "unreachable".
 */
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from 'jose';
import type { Logger } from '../../log-lines.ts';
import { sortKeys, KeysUnavailable, type KeySource } from './keys.ts';
import { readBounded } from '../../bounded-answer.ts';

export interface RemoteKeysOptions {
  readonly url: string;
  /** Least time between two reloads that an unknown key asked for. */
  readonly cooldownMs?: number;
  readonly timeoutMs?: number;
  /** Told of each set that could not be fetched or used. */
  readonly log?: Logger;
}

/** Between two reloads in the background: a withdrawn key works no longer than that. */
const RELOAD_EVERY_MS = 300_000;

export interface RemoteKeys extends KeySource {
  /** Fetches the set; the last good one stays when this fails. Throws {@link KeysUnavailable}. */
  reload(): Promise<void>;
  close(): void;
}

export function createRemoteKeys(options: RemoteKeysOptions): RemoteKeys {
  const { url, cooldownMs = 2_000, timeoutMs = 3_000, log } = options;
  let known: JWTVerifyGetKey | null = null;
  let lastGood: readonly JWK[] = [];
  let loading: Promise<void> | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  let failure: KeysUnavailable | null = null;

  async function load(): Promise<void> {
    try {
      failure = await take(await fetchKeys(url, timeoutMs));
    } catch (cause) {
      failure = new KeysUnavailable('the key set is out of reach', { cause });
    } finally {
      loading = null;
    }
    if (failure === null) return;
    log?.warn({ reason: failure.message, serving: lastGood.length }, 'the last good key set serves on');
    throw failure;
  }

  /** Serves what can be used of a set; tells what is wrong with it. */
  async function take(keys: readonly unknown[]): Promise<KeysUnavailable | null> {
    const { usable, broken } = await sortKeys(keys);
    const isGood = broken === 0 && usable.length > 0;
    if (isGood) lastGood = usable;
    const newIds = new Set(usable.map(({ kid }) => kid));
    const served = isGood ? usable : [...usable, ...lastGood.filter(({ kid }) => !newIds.has(kid))];
    if (served.length > 0) known = createLocalJWKSet({ keys: [...served] });
    return isGood
      ? null
      : new KeysUnavailable(`the key set cannot be used: ${broken} of its ${keys.length} keys are broken`);
  }

  function reload(): Promise<void> {
    return (loading ??= load());
  }

  /** Reloads for the sake of an unknown key, or reports how the last look ended when that was a moment ago. */
  async function look(): Promise<void> {
    if (loading || performance.now() - askedAt >= cooldownMs) {
      if (!loading) askedAt = performance.now();
      await reload();
    } else if (failure) {
      throw failure;
    }
  }

  const find: JWTVerifyGetKey = async (header, token) => {
    if (!known) {
      await look().catch((error: unknown) => {
        if (!known) throw error;
      });
      // The cooldown is for looks that a known set did not spare us: the first set must not delay the next one.
      askedAt = Number.NEGATIVE_INFINITY;
    }
    try {
      return await findIn(known, header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await look();
      return findIn(known, header, token);
    }
  };

  const timer = setInterval(() => void reload().catch(() => undefined), RELOAD_EVERY_MS);
  timer.unref();
  return { find, clockToleranceS: 5, reload, close: () => clearInterval(timer) };
}

async function findIn(known: JWTVerifyGetKey | null, ...token: Parameters<JWTVerifyGetKey>) {
  if (!known) throw new KeysUnavailable('the key set was never fetched');
  try {
    return await known(...token);
  } catch (error) {
    const isAboutToken = error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid);
    throw isAboutToken ? error : new KeysUnavailable('a key of the set cannot be used', { cause: error });
  }
}

const MAX_SET_BYTES = 1_024 * 1_024;

async function fetchKeys(url: string, timeoutMs: number): Promise<readonly unknown[]> {
  const answer = await fetch(url, {
    headers: { accept: 'application/json, application/jwk-set+json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`the key set answered ${answer.status}`);
  }
  const text = (await readBounded(answer, MAX_SET_BYTES)).toString();
  const set = JSON.parse(text) as { readonly keys?: unknown } | null;
  if (!Array.isArray(set?.keys)) throw new Error('the key set has no list of keys');
  return set.keys;
}
