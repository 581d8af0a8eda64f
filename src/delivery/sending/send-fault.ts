/** The outcome of a sending fault, and a text of it that is safe to keep. */
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

const NOT_HTTP = 'a resposta não segue HTTP/1.1';
const NO_CHAIN =
  'a cadeia do certificado do servidor não leva a uma autoridade conhecida; ele deve enviar também os certificados intermediários';
const OURS_REFUSED = 'o servidor recusou o certificado de cliente';

/** Our own words: Node's and OpenSSL's advise the operator and name its files. The first match of a code's end counts. */
const WORDS: readonly (readonly [end: RegExp, words: string])[] = [
  [/^UND_ERR_SOCKET$|^FECHADA$|^EPIPE$/, 'o servidor fechou a conexão antes de responder'],
  [/^ECONNRESET$/, 'o servidor cortou a conexão'],
  [/^ECONNREFUSED$/, 'o servidor recusou a conexão: nada escuta nessa porta'],
  [/^E(NET|HOST)UNREACH$|^EADDRNOTAVAIL$/, 'não há rota até o servidor'],
  [/^ETIMEDOUT$/, 'o servidor não aceitou a conexão a tempo'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'os cabeçalhos da resposta passam de 16 KiB'],
  [/^CERT_HAS_EXPIRED$/, 'o certificado do servidor venceu'],
  [/^CERT_NOT_YET_VALID$/, 'o certificado do servidor ainda não vale'],
  [/^CERT_REVOKED$/, 'o certificado do servidor foi revogado'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'o certificado do servidor é de outro nome'],
  [/SELF_SIGNED_CERT|^UNABLE_TO_|^CERT_UNTRUSTED$|^INVALID_CA$/, NO_CHAIN],
  [/ALERT_CERTIFICATE_REQUIRED$/, 'o servidor exige um certificado de cliente'],
  [
    /ALERT_(UNKNOWN_CA|(BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_[A-Z]{1,20}|ACCESS_DENIED|DECRYPT_ERROR)$/,
    OURS_REFUSED,
  ],
  [/ALERT_HANDSHAKE_FAILURE$/, 'o servidor recusou o TLS: talvez exija um certificado de cliente, ou outras cifras'],
  [/ALERT_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/, 'o servidor não aceita TLS 1.2 nem 1.3'],
  [/WRONG_VERSION_NUMBER$|PACKET_LENGTH_TOO_LONG$|HTTP_REQUEST$/, 'o servidor não fala TLS nessa porta'],
  [/ALERT_UNRECOGNIZED_NAME$/, 'o servidor não conhece esse nome'],
  [/^ERR_(SSL|TLS)_/, 'a conexão segura falhou'],
];

function codeOf(error: Error): string {
  if (error instanceof ConnectFault) return error.reason;
  return (error as { code?: string }).code ?? error.name;
}

/** For an attempt that ended before its status line. */
export function outcomeOfFault(error: Error): 'destino_recusado' | 'erro_conexao' | 'erro_tls' {
  if (error instanceof ConnectFault) return OUTCOME_OF_CONNECT_FAULT[error.kind];
  return /^ERR_(SSL|TLS)_/.test(codeOf(error)) ? 'erro_tls' : 'erro_conexao';
}

export function isClosedByReceiver(error: Error): boolean {
  return !(error instanceof ConnectFault) && CLOSED_BY_RECEIVER.has(codeOf(error));
}

/** The client's parser refused the answer's head. */
export function isUnparsed(error: Error): boolean {
  return error.name === 'HTTPParserError' || codeOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
}

/** The client refused the request as malformed: a bug of ours, no network fault. */
export function isOurs(error: Error): boolean {
  return codeOf(error) === 'UND_ERR_INVALID_ARG';
}

/** At most 200 characters, no control characters. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ').slice(0, MAX_TEXT_LENGTH);
}

function refusedAnswer(error: Error, statusCode: number | null): string {
  const reason = error.name === 'HTTPParserError' ? /\(([^()]{1,80})\)$/.exec(error.message)?.[1] : 'Content-Length';
  const status = statusCode === null ? '' : `, status ${statusCode}`;
  return `RESPOSTA_INVALIDA: ${NOT_HTTP}${status}${reason === undefined ? '' : ` (${reason})`}`;
}

/** `statusCode`: of an answer that the parser refused. */
export function faultText(error: Error, statusCode: number | null = null): string {
  const code = codeOf(error);
  if (isUnparsed(error)) return oneLine(refusedAnswer(error, statusCode));
  // The client's own: some impossible answers trip an assertion of its parser, whose message quotes its source.
  if (code === 'ERR_ASSERTION') return `RESPOSTA_INVALIDA: ${NOT_HTTP}`;
  const words = WORDS.find(([end]) => end.test(code))?.[1];
  return oneLine(`${code}: ${words ?? (error instanceof ConnectFault ? error.message : 'a conexão falhou')}`);
}
