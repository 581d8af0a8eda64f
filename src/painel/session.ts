/**
 * The session is the token itself, in a cookie that scripts cannot read and that expires with the token. Each request verifies
 * the token again, as the API does, so an expired token or a deactivated partner ends the session. The form token is an HMAC
 * under the session's token: only the holder of the cookie can make it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { decodeJwt } from 'jose';
import type { Identity } from '../http/auth/auth.ts';
import { ApiError } from '../http/api-error.ts';
import type { Gate } from '../http/operation.ts';

const COOKIE = 'carteiro_painel';
const PATH = '/painel';
/** A browser drops a cookie of more than 4,096 bytes with its name and attributes, and says nothing. */
const MAX_TOKEN_LENGTH = 3_800;

export interface Session {
  readonly token: string;
  readonly identity: Identity;
  /** The partner's name; null for who has none. */
  readonly account: string | null;
  readonly endsAt: Date;
  /** What every form of this session carries. */
  readonly formToken: string;
}

export type Gatekeeper = Pick<Gate, 'authenticate' | 'countRequest' | 'admit'>;

/** The session of a token. Throws as the API does for a token that it refuses. */
export async function openSession(gate: Gatekeeper, token: string): Promise<Session> {
  if (token.length > MAX_TOKEN_LENGTH) {
    throw new ApiError('CREDENCIAL_INVALIDA', `o token passa de ${MAX_TOKEN_LENGTH} caracteres, e não cabe num cookie`);
  }
  const identity = await gate.authenticate(`Bearer ${token}`);
  await gate.countRequest(identity);
  const account = await gate.admit(identity);
  const { exp = 0 } = decodeJwt(token);
  const formToken = createHmac('sha256', token).update('carteiro painel').digest('base64url');
  return { token, identity, account, endsAt: new Date(exp * 1_000), formToken };
}

/** True when `given` is the session's own. */
export function isFormToken({ formToken }: Session, given: string | null): boolean {
  const [ours, theirs] = [Buffer.from(formToken), Buffer.from(given ?? '')];
  return ours.length === theirs.length && timingSafeEqual(ours, theirs);
}

export function readToken(c: Context): string | undefined {
  return getCookie(c, COOKIE);
}

/** Keeps the token for as long as it lasts; `isSecure`: the browser sends it over TLS alone. */
export function keepToken(c: Context, { token, endsAt }: Session, isSecure: boolean): void {
  const maxAge = Math.max(0, Math.floor((endsAt.getTime() - Date.now()) / 1_000));
  setCookie(c, COOKIE, token, { path: PATH, httpOnly: true, sameSite: 'Strict', secure: isSecure, maxAge });
}

export function forgetToken(c: Context): void {
  deleteCookie(c, COOKIE, { path: PATH });
}
