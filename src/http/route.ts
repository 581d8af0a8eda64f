/** The declaration of a route: its description in OpenAPI and its handler. */
import type { HonoRequest } from 'hono';
import type { z } from 'zod';
import type { Scope } from '../contract/statuses.ts';
import type { Reading } from '../db/reports.ts';
import type { RouteAnswer } from './answer.ts';
import type { HttpDeps } from './deps.ts';
import type { Caller, Operation, Route } from './operation.ts';

/** What an operation with an `Idempotency-Key` may refuse beside the others. */
export const KEY_ERRORS = ['IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'] as const;

/** In the order in which the description lists them; one that depends on the settings is made of them. */
export type Routes = readonly (Route | ((deps: HttpDeps) => Route))[];

type Declared = Omit<Operation, 'method' | 'path' | 'scope'>;

interface Sent<D extends Declared> {
  /** The operation's, as it is declared. */
  readonly path: string;
  /** `sub` of the token. */
  readonly actor: string;
  readonly requestId: string;
  /** The `{id}` of the path; empty where the path has none. */
  readonly id: string;
  readonly params: { readonly [N in keyof D['params']]: z.output<NonNullable<D['params']>[N] & z.ZodType> };
  readonly body: D extends { readonly body: infer B extends z.ZodType } ? z.output<B> : undefined;
  readonly query: D extends { readonly query: infer Q extends z.ZodType } ? z.output<Q> : undefined;
  readonly idempotencyKey: D extends { readonly idempotencyKey: 'required' } ? string : string | null;
  readonly reading: D extends { readonly isReport: true } ? Reading : null;
}

/** The scope says who may ask: the lender's own services have tokens that name no partner. */
type ByOf<S extends Scope> = S extends 'auditoria:read'
  ? 'auditor'
  : S extends 'nucleo'
    ? 'core'
    : S extends 'operador'
      ? 'operator'
      : 'partner';
type CallOf<D extends Declared, S extends Scope> = Sent<D> & Extract<Caller, { readonly by: ByOf<S> }>;

/** The example of a body that its operation declares, held to the body's schema. */
interface Example<D extends Declared> {
  readonly bodyExample?: D extends { readonly body: infer B extends z.ZodType } ? z.input<B> : never;
}

/**
 * A route: method, path, scope, what its operation declares, and what answers it. `request` is for what one operation alone reads.
 */
export function route<
  const P extends `${Uppercase<Operation['method']>} /${string}`,
  const S extends Operation['scope'],
  const D extends Declared,
>(methodAndPath: P, scope: S, declared: D & Example<D>) {
  const [method = '', path = ''] = methodAndPath.split(' ');
  const operation: Operation = { ...declared, method: method.toLowerCase() as Operation['method'], path, scope };
  return <const R extends RouteAnswer<D, P>>(
    respond: (call: CallOf<D, S>, deps: HttpDeps, request: HonoRequest) => Promise<R>,
    // The compiler does not see that an answer as declared is some answer.
  ): Route => ({ operation, respond: respond as unknown as Route['respond'] });
}
