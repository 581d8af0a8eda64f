/** The service's own key pair, for a sandbox that has no issuer. It lies under the data folder, for its owner alone. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createLocalJWKSet, exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';
import type { Scope } from '../../contract/statuses.ts';
import { readOrMakeFile } from '../../settings/key-file.ts';
import type { KeySource } from './keys.ts';

const ALGORITHM = 'ES256';
const FILE = 'token-key.json';

export interface LocalKeysOptions {
  readonly dataDir: string;
  readonly issuer: string;
  readonly audience: string;
}

interface TokenRequest {
  /** Absent in the token of an auditor, an operator and the core. */
  readonly partnerId?: string;
  readonly scopes: readonly Scope[];
  readonly ttlSeconds: number;
  /** `sub`; the partner unless it is given, or what else the token is for. */
  readonly subject?: string | undefined;
}

export interface LocalKeys extends KeySource {
  /** A signed token: `scope` space-delimited, `parceiro_id` when there is a partner. */
  signToken(request: TokenRequest): Promise<string>;
}

/** Reads the key pair under `dataDir`, making it first if there is none. */
export async function openLocalKeys({ dataDir, issuer, audience }: LocalKeysOptions): Promise<LocalKeys> {
  const { d, ...publicKey } = JSON.parse(await readOrMakeFile(join(dataDir, FILE), makeKey)) as JWK;
  const signingKey = await importJWK({ ...publicKey, d } as JWK, ALGORITHM);

  return {
    find: createLocalJWKSet({ keys: [publicKey] }),
    // The same machine signs and verifies, so there are no two clocks to differ.
    clockToleranceS: 0,
    async signToken({ partnerId, scopes, ttlSeconds, subject }) {
      return new SignJWT({ scope: scopes.join(' '), ...(partnerId !== undefined && { parceiro_id: partnerId }) })
        .setProtectedHeader({ alg: ALGORITHM, kid: publicKey.kid as string, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(subject ?? partnerId ?? ownSubject(scopes))
        .setJti(randomUUID())
        .setIssuedAt()
        .setExpirationTime(`${ttlSeconds}s`)
        .sign(signingKey);
    },
  };
}

/** Who speaks when no partner does. */
function ownSubject(scopes: readonly Scope[]): string {
  return scopes.find((scope) => scope === 'operador' || scope === 'nucleo') ?? 'auditor';
}

async function makeKey(): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: ALGORITHM, use: 'sig' };
  return JSON.stringify(key);
}
