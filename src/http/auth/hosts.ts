/**
 * The host names that the service answers to. By DNS rebinding, an attacker's page could point its name at 127.0.0.1, sign in and
 * read answers. So the sandbox answers only to loopback names and the host of `PUBLIC_URL`. Production does so where `PUBLIC_URL`
 * is set, except on the paths of probes and metrics, which need no token.
 */
import type { HonoRequest } from 'hono';
import { ApiError } from '../api-error.ts';
import { bareRefusal } from '../errors.ts';
import type { Fetch } from '../request.ts';

const ASKED_BY_ADDRESS = /^\/(healthz|readyz|metrics)$/;

/** `hostname` as a URL has it. */
function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** True for a request to a loopback name. A browser may talk to it without TLS. */
export function isToLoopback(request: HonoRequest): boolean {
  return isLoopbackName(new URL(request.url).hostname);
}

/** `fetch`, for the hosts that the service answers to; 421 for any other. */
export function forOwnHosts(fetch: Fetch, isSandbox: boolean, publicUrl: URL | null): Fetch {
  if (!isSandbox && publicUrl === null) return fetch;
  return (request, sent) => {
    const { hostname, pathname } = new URL(request.url);
    const isOwn = isLoopbackName(hostname) || hostname === publicUrl?.hostname;
    return isOwn || (!isSandbox && ASKED_BY_ADDRESS.test(pathname)) ? fetch(request, sent) : misdirected();
  };
}

function misdirected(): Response {
  const message = 'este serviço não atende por este nome; a operação o declara em PUBLIC_URL';
  const { body, ...rest } = bareRefusal(new ApiError('HOST_NAO_ATENDIDO', message));
  return new Response(body, rest);
}
