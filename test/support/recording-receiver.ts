/**
 * The receiver of a fault run, in a separate process that no fault hits. It writes a line for every POST whose body was received
 * in full, then answers, well or badly.
 * Arguments: file, seed, `haste` or `patience`. Prints its port; ends when standard input does.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type Treatment, treatmentOf } from '../chaos/plan.ts';
import { type Answer, drip, hang, raw, resetAtOnce, startReceiver, status } from './receiver.ts';

const [file = '', seed = '0', pace = ''] = process.argv.slice(2);
const record = createWriteStream(file);
const posts = new Map<string, number>();

const ANSWERS: Readonly<Record<Exclude<Treatment['kind'], 'answer'>, Answer>> = {
  hang: hang(),
  reset: resetAtOnce(),
  half: raw('HTTP/1.1 2', 'reset'),
  'drip-body': drip('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n', 'x', 500),
  'drip-head': drip('HTTP/1.1 200 OK\r\nx-slow: ', 'x', 500),
};

const receiver = await startReceiver();
receiver.answerWith((received, response, socket) => {
  const { headers, body, path, requestOfConnection } = received;
  // What is on file is not kept in memory.
  receiver.posts.length = 0;
  const id = String(headers['x-webhook-delivery']);
  const post = (posts.get(id) ?? 0) + 1;
  posts.set(id, post);
  const [, stream] = /"emprestimo_id" ?: ?"([0-9a-f-]{36})"/.exec(body.toString('latin1')) ?? [];
  // One draw for all POSTs of an endpoint would make it always answer, or always hang.
  if (stream === undefined) throw new Error('a POST whose stream cannot be told');
  const { kind, status: code, delayMs } = treatmentOf(Number(seed), path, stream, post, pace === 'haste');
  const hash = createHash('sha256').update(body).digest('hex');
  // The sender may repeat a POST within one attempt when a kept-alive connection breaks.
  const mayRepeat = kind === 'reset' && requestOfConnection > 1;
  record.write(`${id}\t${Date.now()}\t${hash}\t${mayRepeat}\t${code >= 200 && code < 300}\n`);
  const answer =
    kind === 'answer' ? status(code, 'ok', { delayMs, headers: { 'content-length': '2' } }) : ANSWERS[kind];
  answer(received, response, socket);
});
process.stdout.write(`${receiver.port}\n`);
process.stdin.resume();
process.stdin.once('end', () => record.end(() => process.exit(0)));
