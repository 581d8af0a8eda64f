/** The parts of a hostile receiver's behaviour on a TCP connection. */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** A receiver's behaviour on one connection, from its acceptance on. */
export type Behaviour = (socket: Socket) => void;

export interface Expected {
  readonly outcome: 'entregue' | 'resposta_nao_2xx' | 'tempo_esgotado' | 'erro_conexao' | 'erro_tls';
  readonly statusCode: number | null;
}

export const answered = (statusCode: number): Expected => ({
  outcome: statusCode < 300 ? 'entregue' : 'resposta_nao_2xx',
  statusCode,
});
export const timedOut: Expected = { outcome: 'tempo_esgotado', statusCode: null };
export const broken: Expected = { outcome: 'erro_conexao', statusCode: null };
export const tlsFault: Expected = { outcome: 'erro_tls', statusCode: null };

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Calls `answer` with the number of each request of the connection, once its last byte is in. */
export function onRequests(answer: (socket: Socket, request: number) => void): Behaviour {
  return (socket) => {
    let text = '';
    let requests = 0;
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (;;) {
        const [head = '', length = ''] = /^[^]*?\r\ncontent-length: (\d+)(?=\r\n)[^]*?\r\n\r\n/i.exec(text) ?? [];
        if (head === '' || text.length < head.length + Number(length)) return;
        text = text.slice(head.length + Number(length));
        answer(socket, (requests += 1));
      }
    });
  };
}

/** Answers every request with the same bytes; then leaves the connection open, ends it or resets it. */
export function bytes(text: string | Buffer, after: 'open' | 'end' | 'reset' = 'open'): Behaviour {
  return onRequests((socket) => say(socket, text, after));
}

export function say(socket: Socket, text: string | Buffer, after: 'open' | 'end' | 'reset'): void {
  socket.write(text, () => {
    if (after === 'end') socket.end();
    if (after === 'reset') setImmediate(() => reset(socket));
  });
}

export function reset(socket: Socket): void {
  // A TLS socket has a TCP socket below it that cannot be reset from here.
  if ('encrypted' in socket) (socket as TLSSocket).destroy();
  else socket.resetAndDestroy();
}

/** `head`, then `piece` without end, as fast as the other side reads. */
export function flood(head: string, piece: string | Buffer): Behaviour {
  return onRequests((socket) => pour(socket, head, piece));
}

export function pour(socket: Socket, head: string, piece: string | Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', write).write(head);
  write();
}

/** `head`, then `piece` every `everyMs` until the other side has gone. */
export function drip(head: string, piece: string, everyMs: number): Behaviour {
  return onRequests((socket) => dribble(socket, head, piece, everyMs));
}

export function dribble(socket: Socket, head: string, piece: string, everyMs: number): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.once('close', () => clearInterval(timer));
}
