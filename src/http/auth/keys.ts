/** Where the keys that verify tokens come from, and which of a set can. */
import { type JWTVerifyGetKey, importJWK, type JWK } from 'jose';

/** What a token may be signed with. */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;

export interface KeySource {
  /** Finds the key of a token. Throws jose's errors for a token that names no key, {@link KeysUnavailable} for an outage. */
  readonly find: JWTVerifyGetKey;
  /** How far the issuer's clock may be from ours, in seconds; at most 5. */
  readonly clockToleranceS: number;
}

/** The key set is out of reach, so no token can be judged: 503, never 401. */
export class KeysUnavailable extends Error {
  override name = 'KeysUnavailable';
}

const KINDS: Readonly<Record<(typeof ALGORITHMS)[number], { readonly kty: string; readonly crv?: string }>> = {
  RS256: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
};
const OTHER_TYPES = new Set(['oct', 'AKP']);
const OTHER_CURVES = new Set(['P-384', 'P-521', 'secp256k1', 'Ed448', 'X25519', 'X448']);
const LEAST_RSA_BITS = 2_048;

/** Sorts a set's `keys`, whatever they are: the usable ones, and how many are neither usable nor for something else. */
export async function sortKeys(keys: readonly unknown[]) {
  const usable: JWK[] = [];
  let broken = 0;
  for (const key of keys) {
    if (typeof key !== 'object' || key === null) broken += 1;
    else if (await isUsable(key)) usable.push(key);
    else if (!isForSomethingElse(key)) broken += 1;
  }
  return { usable, broken };
}

function isForSomethingElse({ kty, crv, use, alg, key_ops: operations }: JWK): boolean {
  return (
    OTHER_TYPES.has(kty ?? '') ||
    OTHER_CURVES.has(crv ?? '') ||
    use === 'enc' ||
    (typeof alg === 'string' && !(ALGORITHMS as readonly string[]).includes(alg)) ||
    (Array.isArray(operations) && !operations.includes('verify'))
  );
}

async function isUsable(key: JWK): Promise<boolean> {
  if (isForSomethingElse(key)) return false;
  const algorithm = ALGORITHMS.find((name) => {
    const { kty, crv } = KINDS[name];
    return key.kty === kty && key.crv === crv && (key.alg === undefined || key.alg === name);
  });
  if (algorithm === undefined) return false;
  try {
    const imported = await importJWK({ ...key, ext: true }, algorithm);
    if (imported instanceof Uint8Array || imported.type !== 'public') return false;
    const { modulusLength } = imported.algorithm as { readonly modulusLength?: number };
    return modulusLength === undefined || modulusLength >= LEAST_RSA_BITS;
  } catch {
    return false;
  }
}
