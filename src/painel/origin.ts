/**
 * Which requests may change something: those that a page of this very host sent.
 *
 * A browser says where a request comes from in Sec-Fetch-Site, which no page can forge, and, where the host has no TLS and
 * is no loopback, in Origin. One that says neither is refused: every browser of the last years sends one of them with a form.
 */
import type { HonoRequest } from 'hono';

export function isOwnOrigin(request: HonoRequest): boolean {
  const site = request.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin';
  const origin = request.header('Origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === request.header('Host')?.toLowerCase();
}
