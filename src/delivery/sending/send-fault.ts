/** The outcome of a fault of sending, and a text of it that is safe to keep. */
import type { Outcome } from '../../contract/statuses.ts';
import { ConnectFault } from '../target/connect-fault.ts';

const MAX_TEXT_LENGTH = 200;

const OUTCOME_OF_CONNECT_FAULT = {
  refused: 'destino_recusado',
  unresolved: 'erro_conexao',
  connection: 'erro_conexao',
  tls: 'erro_tls',
} as const satisfies Record<ConnectFault['kind'], Outcome>;

const CLOSED_BY_RECEIVER = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function codeOf(error: Error): string {
  if (error instanceof ConnectFault) return error.reason;
  return (error as { code?: string }).code ?? error.name;
}

/** The outcome of an attempt that ended with this error before its status line. */
export function outcomeOfFault(error: Error): 'destino_recusado' | 'erro_conexao' | 'erro_tls' {
  if (error instanceof ConnectFault) return OUTCOME_OF_CONNECT_FAULT[error.kind];
  return /^ERR_(SSL|TLS)_/.test(codeOf(error)) ? 'erro_tls' : 'erro_conexao';
}

/** True when the other end closed the connection. */
export function isClosedByReceiver(error: Error): boolean {
  return !(error instanceof ConnectFault) && CLOSED_BY_RECEIVER.has(codeOf(error));
}

/** True when the client refused the request as malformed: a bug of ours, no fault of the network. */
export function isOurs(error: Error): boolean {
  return codeOf(error) === 'UND_ERR_INVALID_ARG';
}

/** One line, at most 200 characters, no control characters: a certificate's names, say, are the receiver's. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ').slice(0, MAX_TEXT_LENGTH);
}

/** Code and message in one line. */
export function faultText(error: Error): string {
  // The client's own: some impossible answers meet an assertion of its parser, whose message quotes its source.
  if (codeOf(error) === 'ERR_ASSERTION') return 'RESPOSTA_INVALIDA: a resposta não segue HTTP/1.1';
  return oneLine(`${codeOf(error)}: ${error.message}`);
}
