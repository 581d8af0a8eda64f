/** A receiver in Node, right but for one planted bug: what the conformance checks must find. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verify, verifyBody } from '../../src/http/receivers/carteiro.ts';
import { listening } from './listening.ts';

interface Data {
  readonly cnpj_empregador?: string;
  readonly campo_novo?: unknown;
  readonly margem_percentual?: number | null;
  readonly nome_trabalhador?: string;
}

interface Received {
  readonly body: Buffer;
  readonly headers: IncomingMessage['headers'];
  readonly secret: string;
  readonly id: string;
  readonly envelope: { readonly evento: string; readonly parceiro_id?: string; readonly data: Data };
  readonly store: Map<string, number>;
  readonly underWay: ReadonlySet<string>;
  readonly atOnce: number;
  readonly silentMs: number;
}

/** A bug answers a status in place of the right one, or null; `verifies` is in place of the right verification. */
interface Bug {
  readonly finds: string;
  readonly verifies?: (received: Received) => boolean;
  readonly answers?: (received: Received) => number | null;
  readonly page?: string;
}

const hmac = (secret: string, text: string | Buffer) =>
  `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
const contractOf = ({ headers }: Received) => String(headers['x-webhook-signature'] ?? '');
const isSigned = (received: Received, text: string) => contractOf(received) === hmac(received.secret, text);
const ascii = (text: string) =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const parsed = ({ body }: Received): unknown => JSON.parse(body.toString());
const standard = ({ headers, secret, body }: Received, signatures: readonly string[]) => {
  const [id, at] = [headers['webhook-id'], headers['webhook-timestamp']];
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key)
    .update(`${String(id)}.${String(at)}.`)
    .update(body)
    .digest('base64');
  return signatures.includes(`v1,${expected}`);
};
const standardList = ({ headers }: Received) => String(headers['webhook-signature'] ?? '').split(' ');
const when = (isWrong: boolean, status: number) => (isWrong ? status : null);
const loanVersion = ({ headers }: Received) => Number(headers['x-webhook-loan-version'] ?? '0');

export const BUGS: Readonly<Record<string, Bug>> = {
  'verifies nothing': { finds: 'assinatura_errada', verifies: () => true },
  'says 200 and an error in the body': { finds: 'outro_segredo', answers: () => 200, verifies: () => true },
  'takes a missing signature': {
    finds: 'sem_assinatura',
    verifies: (one) => contractOf(one) === '' || isSigned(one, one.body.toString()),
  },
  'compares as far as the header goes': {
    finds: 'assinatura_cortada',
    verifies: (one) => contractOf(one) !== '' && hmac(one.secret, one.body).startsWith(contractOf(one)),
  },
  'takes an empty signature': {
    finds: 'assinatura_vazia',
    verifies: (one) => contractOf(one) === 'sha256=' || isSigned(one, one.body.toString()),
  },
  'verifies the trimmed body': {
    finds: 'corpo_alterado',
    verifies: (one) => isSigned(one, one.body.toString().trim()),
  },
  'verifies what JSON.stringify writes': {
    finds: 'reserializado_node',
    verifies: (one) => isSigned(one, JSON.stringify(parsed(one))),
  },
  'verifies what json.dumps writes without blanks': {
    finds: 'reserializado_python',
    verifies: (one) => isSigned(one, ascii(JSON.stringify(parsed(one)))),
  },
  'verifies what json_encode writes': {
    finds: 'reserializado_php',
    verifies: (one) => isSigned(one, ascii(JSON.stringify(parsed(one))).replaceAll('/', String.raw`\/`)),
  },
  'never looks at the time': { finds: 'horario_velho', verifies: (one) => standard(one, standardList(one)) },
  'compares the whole list of signatures': {
    finds: 'rotacao_atual',
    verifies: (one) => standard(one, [String(one.headers['webhook-signature'])]),
  },
  'reads the first signature of the list': {
    finds: 'rotacao_anterior',
    verifies: (one) => standard(one, standardList(one).slice(0, 1)),
  },
  'answers 409 to a duplicate': { finds: 'duplicata', answers: ({ store, id }) => when(store.has(id), 409) },
  'breaks on two of one id at once': {
    finds: 'duplicata_simultanea',
    answers: ({ underWay, id }) => when(underWay.has(id), 500),
  },
  'refuses an older version': {
    finds: 'fora_de_ordem',
    answers: (one) => when(loanVersion(one) > 0 && loanVersion(one) < Math.max(...one.store.values()), 409),
  },
  'has a strict schema': {
    finds: 'chave_desconhecida',
    answers: ({ envelope }) => when('campo_novo' in envelope.data, 400),
  },
  'breaks on null': { finds: 'nulo', answers: ({ envelope }) => when(envelope.data.margem_percentual === null, 500) },
  'takes 16 KiB': { finds: 'corpo_64_kib', answers: ({ body }) => when(body.length > 16_384, 413) },
  'decodes as Latin 1': { finds: 'acentos', verifies: (one) => isSigned(one, one.body.toString('latin1')) },
  'breaks on U+2028': {
    finds: 'separador_u2028',
    answers: ({ envelope }) => when(envelope.data.nome_trabalhador?.includes('\u2028') === true, 500),
  },
  'keeps a CNPJ as a number': {
    finds: 'cnpj_alfanumerico',
    answers: ({ envelope }) => when(/[A-Z]/.test(envelope.data.cnpj_empregador ?? ''), 400),
  },
  'requires parceiro_id': {
    finds: 'sem_parceiro_id',
    answers: ({ envelope }) => when(envelope.parceiro_id === undefined, 400),
  },
  'answers 404 to an unknown event': {
    finds: 'evento_desconhecido',
    answers: ({ envelope }) => when(envelope.evento.startsWith('homologacao.'), 404),
  },
  'sends the fifth at once away': { finds: 'dez_ao_mesmo_tempo', answers: ({ atOnce }) => when(atOnce > 4, 503) },
  'forgets a connection that was silent': {
    finds: 'conexao_ociosa',
    answers: ({ silentMs }) => when(silentMs >= 150, 500),
  },
  'stands behind a login': {
    finds: 'resposta_simples',
    answers: () => 200,
    page: '<!DOCTYPE html><title>Login</title>',
  },
  redirects: { finds: 'propria', answers: () => 308 },
  'signs with what follows whsec_': {
    finds: 'propria',
    verifies: (one) => contractOf(one) === hmac(one.secret.slice('whsec_'.length), one.body),
  },
};

/** Verifies by Standard Webhooks or by the contract's header, stores each delivery once, and answers 204. */
export async function startFaultyReceiver(
  secret: string,
  bug: Bug | null,
  scheme: 'standard' | 'contract' = 'standard',
) {
  const [store, underWay] = [new Map<string, number>(), new Set<string>()];
  const answeredAtMs = new WeakMap<object, number>();
  let atOnce = 0;
  // So that the POSTs of one round meet, each waits until all that were sent have come.
  let [sent, come] = [0, 0];
  const waiting: (() => void)[] = [];
  const meet = async () => {
    come += 1;
    if (come < sent) await new Promise<void>((resolve) => void waiting.push(resolve));
    for (const goOn of waiting.splice(0)) goOn();
  };
  const right = ({ body, headers }: Received) => (scheme === 'standard' ? verify : verifyBody)(body, headers, [secret]);
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { headers, socket } = request;
    const silentMs = performance.now() - (answeredAtMs.get(socket) ?? performance.now());
    atOnce += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const id = String(headers['x-webhook-delivery']);
    const envelope = JSON.parse(body.toString()) as Received['envelope'];
    const received = { body, headers, secret, id, envelope, store, underWay: new Set(underWay), atOnce, silentMs };
    const isOurs = (bug?.verifies ?? right)(received);
    underWay.add(id);
    await meet();
    const status = isOurs ? (bug?.answers?.(received) ?? 204) : 401;
    if (isOurs) store.set(id, loanVersion(received));
    underWay.delete(id);
    atOnce -= 1;
    answeredAtMs.set(socket, performance.now());
    response.writeHead(status, { 'Content-Type': bug?.page === undefined ? 'text/plain' : 'text/html' });
    response.end(status === 204 ? undefined : bug?.page);
  };
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => void handle(request, response));
  return { url: `http://127.0.0.1:${await listening(server)}/carteiro`, onSend: () => void (sent += 1) };
}
