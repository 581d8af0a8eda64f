import { id as uuid } from '../contract/values.ts';
import { notFound } from '../http/api-error.ts';
import type { PainelContext } from './env.ts';

/** The id in the path, as the service writes ids; 404 for anything else. */
export function pathId(c: PainelContext): string {
  const parsed = uuid.safeParse(c.req.param('id'));
  if (!parsed.success) throw notFound();
  return parsed.data.toLowerCase();
}

/** What an address says of each name, without the spaces around it; empty where it says nothing. */
export function fieldsOf<N extends string>(c: PainelContext, names: readonly N[]): Readonly<Record<N, string>> {
  return Object.fromEntries(names.map((name) => [name, c.req.query(name)?.trim() ?? ''])) as Record<N, string>;
}
