/**
 * Turns a bearer token into an identity, or refuses it with 401.
 *
 * A token without `parceiro_id` is 401, unless it has an auditor's, an operator's or the loan core's scope. On a partner's route it
 * is 403 for the missing scope; with that scope too, 401, because there is no partner to act for.
 */
import { errors, jwtVerify, type JWTPayload } from 'jose';
import { id as uuid } from '../../contract/values.ts';
import { isActor, type Scope, SCOPES_WITHOUT_PARTNER } from '../../contract/statuses.ts';
import { ApiError } from '../api-error.ts';
import { ALGORITHMS, KeysUnavailable, type KeySource } from './keys.ts';

export interface Identity {
  /** Null for an auditor and for the loan core. */
  readonly partnerId: string | null;
  /** `sub` of the token. */
  readonly actor: string;
  readonly scopes: ReadonlySet<string>;
}

export interface AuthenticatorOptions {
  readonly keys: KeySource;
  readonly issuer: string;
  readonly audience: string;
}

/** Reads the identity without asking the database. Throws 401 as {@link ApiError}, and {@link KeysUnavailable}. */
export type Authenticate = (authorization: string | undefined) => Promise<Identity>;

const REQUIRED_CLAIMS = ['iss', 'aud', 'exp', 'iat', 'sub'];
const BEARER = /^Bearer +([\w.~+/=-]+) *$/i;

export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  return async (authorization) => {
    if (authorization === undefined || authorization.trim() === '')
      throw unauthorized('o token não foi enviado', 'Bearer');
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined) throw unauthorized('o cabeçalho Authorization não é um token Bearer');

    const claims = await verify(token, options);
    return { partnerId: readPartnerId(claims), actor: readActor(claims), scopes: readScopes(claims) };
  };
}

/** The partner's name, null without a partner. Throws 401 unless the identity is an active partner's, an auditor's or the loan core's. */
export type Admit = (identity: Identity) => Promise<string | null>;

/** `nameOfActive` is null when there is no active partner of that id. */
export function createAdmission(nameOfActive: (partnerId: string) => Promise<string | null>): Admit {
  return async ({ partnerId, scopes }) => {
    if (partnerId === null) {
      if (!SCOPES_WITHOUT_PARTNER.some((scope) => scopes.has(scope)))
        throw unauthorized('o token não nomeia um parceiro');
      return null;
    }
    const name = await nameOfActive(partnerId);
    if (name === null) throw unauthorized('o parceiro do token não existe ou está inativo');
    return name;
  };
}

/** Whether it may read this in masked form alone. */
export function readsMasked({ scopes }: Identity, scope: Scope): boolean {
  return scope === 'webhooks:read' && !scopes.has(scope) && scopes.has('webhooks:mascarado' satisfies Scope);
}

export function requireScope(identity: Identity, scope: Scope): void {
  if (identity.scopes.has(scope)) return;
  throw new ApiError('ESCOPO_INSUFICIENTE', `o token não tem o escopo ${scope}`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}

/** The identity's partner; 401 for one that has none. */
export function requirePartner(identity: Identity): string {
  if (identity.partnerId === null) throw unauthorized('o token não nomeia um parceiro');
  return identity.partnerId;
}

/**
 * 403 for an identity with a partner: its token must never reach other partners' loans, whatever scope its issuer gave by mistake.
 */
export function requireNoPartner(identity: Identity): void {
  if (identity.partnerId === null) return;
  throw new ApiError('ESCOPO_INSUFICIENTE', 'o token deste escopo não tem parceiro', {
    headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' },
  });
}

function unauthorized(message: string, challenge = 'Bearer error="invalid_token"', cause?: unknown): ApiError {
  return new ApiError('CREDENCIAL_INVALIDA', message, { headers: { 'WWW-Authenticate': challenge }, cause });
}

/** jose holds only `exp` and `nbf` against the clock. */
function refuseFuture(payload: JWTPayload, toleranceS: number): JWTPayload {
  if ((payload.iat ?? 0) <= Date.now() / 1_000 + toleranceS) return payload;
  throw new errors.JWTClaimValidationFailed('"iat" is in the future', payload, 'iat', 'check_failed');
}

async function verify(token: string, { keys, issuer, audience }: AuthenticatorOptions): Promise<JWTPayload> {
  const rules = {
    algorithms: [...ALGORITHMS],
    issuer,
    audience,
    clockTolerance: keys.clockToleranceS,
    requiredClaims: REQUIRED_CLAIMS,
  };
  try {
    return refuseFuture((await jwtVerify(token, keys.find, rules)).payload, keys.clockToleranceS);
  } catch (error) {
    if (error instanceof KeysUnavailable) throw error;
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw invalid(error);
    // A token without `kid` may fit several keys of the set: it is good if one of them verifies it.
    for await (const key of error) {
      try {
        return refuseFuture((await jwtVerify(token, key, rules)).payload, keys.clockToleranceS);
      } catch (attempt) {
        if (!(attempt instanceof errors.JWSSignatureVerificationFailed)) throw invalid(attempt);
      }
    }
    throw invalid(error);
  }
}

/** The library's sentence goes to the log: it names the claim, and quotes nothing of the token. */
function invalid(error: unknown): ApiError {
  const cause = error instanceof errors.JOSEError ? error : undefined;
  return unauthorized(error instanceof errors.JWTExpired ? 'o token expirou' : 'o token é inválido', undefined, cause);
}

function readActor({ sub }: JWTPayload): string {
  if (typeof sub !== 'string' || !isActor(sub)) throw unauthorized('o token é inválido');
  return sub;
}

function readPartnerId({ parceiro_id: claim }: JWTPayload): string | null {
  if (claim === undefined) return null;
  const parsed = uuid.safeParse(claim);
  if (!parsed.success) throw unauthorized('o parceiro do token não existe ou está inativo');
  return parsed.data;
}

function readScopes({ scope, scp }: JWTPayload): Set<string> {
  const scopes = typeof scope === 'string' ? scope.split(' ') : [];
  if (Array.isArray(scp)) scopes.push(...scp.filter((one) => typeof one === 'string'));
  return new Set(scopes.filter((one) => one !== ''));
}
