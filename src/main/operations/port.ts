/** What `poll` serves: `/metrics`, `/healthz`, `/readyz`, on `node:http` alone, because a poller carries no HTTP framework. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Metrics } from '../../telemetry/metrics.ts';

/** Enough for monitors and orchestrators; further connections are refused. */
const MAX_CONNECTIONS = 32;
const REQUEST_TIMEOUT_MS = 5_000;

export interface PortOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, 'expose'>;
  /** Null when the process can work, else what is missing, in Portuguese; a throw counts as missing too. */
  readonly ready: () => Promise<string | null>;
}

export type OpenPort = Awaited<ReturnType<typeof openPort>>;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const JSON_TYPE = 'application/json';

/** Opens the port. Rejects with a sentence when it cannot. */
export async function openPort({ host, port, metrics, ready }: PortOptions) {
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    '/healthz': () => Promise.resolve(json(200, { status: 'ok' })),
    '/readyz': async () => {
      const problem = await ready().catch(() => 'o banco de dados não responde');
      return problem === null ? json(200, { status: 'ok' }) : refusal(503, 'INDISPONIVEL', problem);
    },
    '/metrics': async () => {
      const { text, contentType } = await metrics.expose();
      return { status: 200, type: contentType, body: text };
    },
  };
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('request', (request, response) => void answer(answers, request, response));
  server.listen({ host, port });
  await once(server, 'listening').catch(({ code = '' }: NodeJS.ErrnoException) => {
    throw new Error(`the metrics cannot be served on port ${port}: ${whyUnheard(code, 'METRICS_PORT')}`);
  });
  // An accept that failed is one connection's fault. Without a listener that event would end the process.
  server.on('error', () => undefined);
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  answers: Readonly<Record<string, () => Promise<Answer>>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url?.split('?', 1)[0] ?? '';
  const known = Object.hasOwn(answers, path) ? answers[path] : undefined;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  let made: Answer;
  if (known === undefined) made = refusal(404, 'NAO_ENCONTRADO', 'rota não encontrada');
  else if (!isRead) made = refusal(405, 'METODO_NAO_PERMITIDO', 'este caminho aceita GET, HEAD');
  else made = await known().catch(() => refusal(500, 'ERRO_INTERNO', 'erro interno'));
  const { status, type, body } = made;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 405 && { Allow: 'GET, HEAD' }),
    ...(status === 503 && { 'Retry-After': '5' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  // What somebody sends along is not read.
  request.resume();
}

function json(status: number, body: object): Answer {
  return { status, type: JSON_TYPE, body: JSON.stringify(body) };
}

function refusal(status: number, codigo: string, mensagem: string): Answer {
  return json(status, { codigo, mensagem });
}

/** Why nothing can listen on HOST and the port of `variable`, with what to do. */
export function whyUnheard(code: string, variable: 'PORT' | 'METRICS_PORT'): string {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `it is taken; set ${variable} to another, or to 0 for a free one`,
    EACCES: `this user may not; set ${variable} to one above 1023`,
    EADDRNOTAVAIL: 'set HOST to an address of this host, ::1 say',
    ENOTFOUND: 'set HOST to an address of this host',
  };
  return reasons[code] ?? `HOST or ${variable} is wrong (${code})`;
}
