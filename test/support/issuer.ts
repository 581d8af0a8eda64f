/** A token issuer on loopback: keys of every accepted algorithm, and a key set that can be made unreachable. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { endOf } from './ends.ts';

export const ISSUER = 'https://issuer.example';
export const AUDIENCE = 'carteiro-test';
export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export interface SigningKey {
  readonly kid: string;
  readonly alg: Algorithm;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function createSigningKey(alg: Algorithm, kid: string = alg): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Valid claims; a test overrides one at a time, and undefined leaves a claim out. */
export function goodClaims(claims: Readonly<Record<string, unknown>> = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1_000);
  return { iss: ISSUER, aud: AUDIENCE, sub: 'someone', iat: now, exp: now + 300, ...claims };
}

export async function sign(key: SigningKey, claims: JWTPayload, header: { kid?: string } = { kid: key.kid }) {
  return new SignJWT(claims).setProtectedHeader({ alg: key.alg, ...header }).sign(key.privateKey);
}

export type KeySetServer = Awaited<ReturnType<typeof startKeySet>>;

export async function startKeySet(first: readonly JWK[]) {
  let keys = first;
  let asked = 0;
  const listen = async (port: number): Promise<Server> => {
    const listening = createServer((_request, response) => {
      asked += 1;
      response
        .writeHead(200, { 'Content-Type': 'application/json', Connection: 'close' })
        .end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
    return listening;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  endOf(stop);
  return {
    url: `http://127.0.0.1:${port}/jwks.json`,
    /** The number of requests for the key set. */
    asked: () => asked,
    publish: (next: readonly JWK[]) => {
      keys = next;
    },
    stop,
    /** Listens again on the same port. */
    restart: async () => {
      server = await listen(port);
    },
  };
}
