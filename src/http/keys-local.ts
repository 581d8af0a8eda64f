/**
 * The service's own key pair, for a sandbox that has no issuer. It lies under the data folder, readable by its owner alone.
 *
 * Two processes may need it first at the same time (the API and the command `token`): each writes a file of its own and
 * links it to the key's name, which the file system does for one of them only; both then read the winner's.
 */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalJWKSet, exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';
import type { Scope } from '../contract/statuses.ts';
import type { KeySource } from './keys.ts';

const ALGORITHM = 'ES256';
const FILE = 'token-key.json';

export interface LocalKeysOptions {
  readonly dataDir: string;
  readonly issuer: string;
  readonly audience: string;
}

export interface TokenRequest {
  /** Absent in an auditor's token. */
  readonly partnerId?: string;
  readonly scopes: readonly Scope[];
  readonly ttlSeconds: number;
}

export interface LocalKeys extends KeySource {
  /** A signed token: `scope` space-delimited, `parceiro_id` when there is a partner (decisions, "Authentication"). */
  signToken(request: TokenRequest): Promise<string>;
}

/** Reads the key pair under `dataDir`, making it first if there is none. */
export async function openLocalKeys({ dataDir, issuer, audience }: LocalKeysOptions): Promise<LocalKeys> {
  const { d, ...publicKey } = await readOrMake(dataDir);
  const signingKey = await importJWK({ ...publicKey, d } as JWK, ALGORITHM);

  return {
    find: createLocalJWKSet({ keys: [publicKey] }),
    // The same machine signs and verifies, so there are no two clocks to differ.
    clockToleranceS: 0,
    async signToken({ partnerId, scopes, ttlSeconds }) {
      return new SignJWT({ scope: scopes.join(' '), ...(partnerId !== undefined && { parceiro_id: partnerId }) })
        .setProtectedHeader({ alg: ALGORITHM, kid: publicKey.kid as string, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(partnerId ?? 'auditor')
        .setJti(randomUUID())
        .setIssuedAt()
        .setExpirationTime(`${ttlSeconds}s`)
        .sign(signingKey);
    },
  };
}

async function readOrMake(dataDir: string): Promise<JWK> {
  const path = join(dataDir, FILE);
  try {
    return JSON.parse(await readFile(path, 'utf8')) as JWK;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new Error(`cannot read ${path}`, { cause: error });
  }
  await make(dataDir, path);
  return JSON.parse(await readFile(path, 'utf8')) as JWK;
}

async function make(dataDir: string, path: string): Promise<void> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: randomUUID(), alg: ALGORITHM, use: 'sig' };
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(JSON.stringify(key));
    await file.sync();
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await file.close();
    await unlink(draft);
  }
}
