/** Hostile receivers over plain TCP, and the outcome that each must get. */
import { gzipSync } from 'node:zlib';
import {
  answered,
  type Behaviour,
  broken,
  bytes,
  drip,
  type Expected,
  flood,
  OK,
  onRequests,
  pour,
  reset,
  timedOut,
} from './behaviour.ts';

/** The first element is the name. Each further expectation is one more POST, in order. */
type PlainReceiver = readonly [name: string, behaviour: Behaviour, ...expected: readonly Expected[]];

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
const EARLY = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const PIECE = Buffer.alloc(65_536, 97);
const GZIP_BOMB = gzipSync(Buffer.alloc(50 * 1_048_576));
const SETTINGS_FRAME = Buffer.from('00000604000000000000030000006400', 'hex');

const head = (line: string) => bytes(`${HEAD}${line}\r\n\r\n`);

const SILENT: readonly PlainReceiver[] = [
  ['accepts and says nothing', (socket) => socket.resume(), timedOut],
  ['accepts and never reads', () => undefined, timedOut],
  ['says its first byte after 29 s', (socket) => setTimeout(() => socket.write('H'), 29_000).unref(), timedOut],
  ['drips a status line', drip('HTTP/1.1 200 ', 'O', 200), timedOut],
  ['drips a header', drip(`${HEAD}x-slow: `, 'a', 200), timedOut],
  ['drips interim answers', drip('', EARLY, 200), timedOut],
  ['drips blank lines', drip('', '\r\n', 200), timedOut],
  ['stops after its status line', bytes(HEAD), timedOut],
  ['stops before the last line end of its headers', bytes(`${HEAD}content-length: 0\r\n`), timedOut],
  ['floods with 103', flood('', EARLY.repeat(1_000)), timedOut],
  ['floods with 100', flood('', CONTINUE.repeat(1_000)), timedOut],
  ['floods with 103 of 15 KiB each', flood('', `HTTP/1.1 103 E\r\nlink: ${'a'.repeat(15_000)}\r\n\r\n`), timedOut],
  ['has a status line without end', flood('HTTP/1.1 200 ', PIECE), timedOut],
  ['sends blank lines without end', flood('', '\r\n'.repeat(32_768)), timedOut],
  ['holds 8,000 tiny headers open', bytes(`${HEAD}${'a:b\r\n'.repeat(8_000)}`), timedOut],
  ['holds 16,000 empty headers open', bytes(`${HEAD}${'a:\r\n'.repeat(16_000)}`), timedOut],
];

const NO_HTTP: readonly PlainReceiver[] = [
  ['has 64 KiB of headers', head(`x-big: ${'a'.repeat(65_536)}\r\ncontent-length: 0`), broken],
  ['has a garbage status line', bytes('GARBAGE 200 OK\r\n\r\n'), broken],
  ['has a status line of bytes 0', bytes(Buffer.alloc(64)), broken],
  ['has a status of two digits', bytes('HTTP/1.1 20 OK\r\n\r\n'), broken],
  ['has a status of four digits', bytes('HTTP/1.1 2000 OK\r\n\r\n'), broken],
  ['has the status 099', bytes('HTTP/1.1 099 x\r\n\r\n'), broken],
  ['speaks HTTP/0.9', bytes('<html>ok</html>', 'end'), broken],
  ['speaks HTTP/2', bytes(SETTINGS_FRAME), broken],
  ['sends the HTTP/2 preface', bytes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), broken],
  ['speaks SSH, before it was asked', (socket) => socket.resume().write('SSH-2.0-OpenSSH_9.9\r\n'), broken],
  ['echoes the request', (socket) => socket.pipe(socket), broken],
  ['upgrades unasked', bytes('HTTP/1.1 101 S\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'), broken],
  ['upgrades unasked to nothing', bytes('HTTP/1.1 101 S\r\n\r\n'), broken],
  ['says 100 Continue and then nothing that is an answer', bytes(`${CONTINUE}GARBAGE\r\n\r\n`), broken],
  ['gives 100 Continue a body', bytes(`HTTP/1.1 100 C\r\ncontent-length: 5\r\n\r\nhello${OK}`), broken],
  ['gives an interim answer a body', bytes(`HTTP/1.1 103 E\r\ncontent-length: 5\r\n\r\nhello${OK}`), broken],
  ['has a negative content-length', head('content-length: -1'), broken],
  ['has two content-lengths', head('content-length: 0\r\ncontent-length: 5'), broken],
  ['has a list of content-lengths', head('content-length: 0, 5'), broken],
  ['has a content-length beyond all numbers', head('content-length: 99999999999999999999999'), broken],
  ['has content-length and chunks', head('content-length: 3\r\ntransfer-encoding: chunked'), answered(200)],
  ['folds a header', head('x-a: b\r\n c\r\ncontent-length: 0'), answered(200)],
  ['has a byte 0 in a header', head('x-a: b\0c\r\ncontent-length: 0'), answered(200)],
  ['has a blank before a colon', head('content-length : 0'), answered(200)],
  ['has a header without a colon', head('abc'), broken],
  ['ends lines with LF alone', bytes('HTTP/1.1 200 OK\ncontent-length: 0\n\n'), answered(200)],
];

const BREAKING: readonly PlainReceiver[] = [
  ['resets on accept', reset, broken],
  ['ends on accept', (socket) => socket.resume().end(), broken],
  ['resets before its status line', onRequests(reset), broken],
  ['resets within its status line', bytes('HTTP/1.1 2', 'reset'), broken],
  ['resets within its headers', bytes(`${HEAD}x-a: b\r\n`, 'reset'), broken],
  ['ends before its status line', bytes('', 'end'), broken],
  ['ends after an interim answer', bytes(EARLY, 'end'), broken],
  ['ends after 100 Continue', bytes(CONTINUE, 'end'), broken],
  ['resets after its status line and headers', bytes(`${HEAD}content-length: 9\r\n\r\nabc`, 'reset'), answered(200)],
  ['ends before its body is whole', bytes(`${HEAD}content-length: 9\r\n\r\nabc`, 'end'), answered(200)],
  ['closes its half after its answer', bytes(OK, 'end'), answered(200), answered(200)],
  ['speaks HTTP/1.0 and ends', bytes('HTTP/1.0 200 OK\r\n\r\nok', 'end'), answered(200), answered(200)],
  ['says close and stays', head('connection: close\r\ncontent-length: 0'), answered(200), answered(200)],
  ['answers before it reads', (socket) => socket.write(OK), answered(200)],
  ['says 100 Continue unasked', bytes(`${CONTINUE}${OK}`), answered(200), answered(200)],
];

const BODIES: readonly PlainReceiver[] = [
  ['drips its body', drip(`${HEAD}content-length: 99999\r\n\r\n`, 'a', 10), answered(200)],
  ['has a body that never comes', head('content-length: 5'), answered(200)],
  ['has a body without end', flood(`${HEAD}\r\n`, PIECE), answered(200)],
  ['has an error page without end', flood('HTTP/1.1 500 No\r\n\r\n', PIECE), answered(500)],
  ['has a chunk extension without end', flood(`${CHUNKED}3;`, PIECE), answered(200)],
  ['has chunks of one byte without end', flood(CHUNKED, '1\r\na\r\n'.repeat(8_192)), answered(200)],
  ['has trailers without end', flood(`${CHUNKED}0\r\n`, 'x-a: b\r\n'.repeat(8_192)), answered(200)],
  ['has a chunk beyond all numbers', bytes(`${CHUNKED}ffffffffffffffffffff\r\n`), answered(200)],
  [
    'has a gzip bomb',
    bytes(
      Buffer.concat([
        Buffer.from(`${HEAD}content-encoding: gzip\r\ncontent-length: ${GZIP_BOMB.length}\r\n\r\n`),
        GZIP_BOMB,
      ]),
    ),
    answered(200),
  ],
  [
    'redirects to the machine itself',
    bytes('HTTP/1.1 307 T\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n'),
    answered(307),
  ],
  [
    'redirects to metadata, with a body without end',
    flood('HTTP/1.1 302 F\r\nlocation: http://169.254.169.254/\r\n\r\n', PIECE),
    answered(302),
  ],
  ['has a status that does not exist', bytes('HTTP/1.1 999 x\r\ncontent-length: 0\r\n\r\n'), answered(999)],
];

/** Two answers to one request, or none to the second: no byte of them may count as the next answer. */
const REUSED: readonly PlainReceiver[] = [
  ['is closed under the next request', onFirst(OK, (socket) => socket.end()), answered(200), answered(200)],
  ['is reset under the next request', onFirst(OK, reset), answered(200), answered(200)],
  ['sends a second answer at once', poisoning(`${OK}HTTP/1.1 500 No\r\n\r\n`), answered(200), answered(201)],
  ['sends half of a second answer', poisoning(`${OK}HTTP/1.1 5`), answered(200), answered(201)],
  ['gives 204 a body that is an answer', poisoning(NO_CONTENT('content-length: 38\r\n')), answered(204), answered(201)],
  ['gives 204 a body without its length', poisoning(NO_CONTENT('')), answered(204), answered(201)],
  ['gives 304 a body that is an answer', poisoning(`HTTP/1.1 304 N\r\n\r\n${POISON()}`), answered(304), answered(201)],
  [
    'sends blank lines without end after its answer',
    onRequests((socket) => pour(socket, OK, '\r\n'.repeat(32_768))),
    answered(200),
  ],
];

function POISON(): string {
  return 'HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n';
}

function NO_CONTENT(header: string): string {
  return `HTTP/1.1 204 No\r\n${header}\r\n${POISON()}`;
}

function onFirst(first: string, next: Behaviour): Behaviour {
  return onRequests((socket, request) => {
    if (request === 1) socket.write(first);
    else next(socket);
  });
}

/** `first` to the first request of all; 201 to the others, whatever their connection. */
function poisoning(first: string): Behaviour {
  let requests = 0;
  return onRequests((socket) => {
    socket.write((requests += 1) === 1 ? first : 'HTTP/1.1 201 C\r\ncontent-length: 0\r\n\r\n');
  });
}

export const PLAIN_RECEIVERS = [...SILENT, ...NO_HTTP, ...BREAKING, ...BODIES, ...REUSED];
