import { id as uuid } from '../contract/values.ts';
import { notFound } from '../http/api-error.ts';
import type { PainelContext } from './env.ts';

/** The id in the path, as the service writes ids; 404 for anything else. */
export function pathId(c: PainelContext): string {
  const parsed = uuid.safeParse(c.req.param('id'));
  if (!parsed.success) throw notFound();
  return parsed.data.toLowerCase();
}
