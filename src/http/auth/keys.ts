import type { JWTVerifyGetKey } from 'jose';

/** What a token may be signed with. */
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;

/** Where the keys that verify tokens come from. */
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
