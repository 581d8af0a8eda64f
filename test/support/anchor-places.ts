/** Places that keep checkpoints, each a real server on loopback: a time-stamping authority by openssl, an S3 bucket, a C2SP witness. */
import { execFile } from 'node:child_process';
import { createHash, createHmac, createPrivateKey, createPublicKey, randomUUID, sign } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { cosignedText, readWitnessKey } from '../../src/audit/checkpoint/cosignature.ts';
import { openNote, type Verifier } from '../../src/audit/checkpoint/note.ts';
import { readCheckpointText } from '../../src/audit/checkpoint/checkpoint.ts';
import { isConsistent, type TreeHead } from '../../src/audit/seals/tree/merkle.ts';
import { listening } from './listening.ts';

const run = promisify(execFile);

export interface Place {
  readonly url: string;
  /** Every request from now on is answered with this status, without a body; null: as it should be. */
  failWith(status: number | null): void;
  close(): Promise<void>;
}

type Serve = (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void> | void;

async function startPlace(serve: Serve): Promise<Place> {
  let failure: number | null = null;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (failure !== null) response.writeHead(failure).end();
      else
        void Promise.resolve(serve(request, Buffer.concat(parts), response)).catch((error: Error) =>
          response.writeHead(500).end(error.message),
        );
    });
  });
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    failWith: (status) => (failure = status),
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

const TSA = (folder: string) => `[tsa]
default_tsa = one
[one]
serial = ${folder}/serial
signer_cert = ${folder}/tsa.pem
certs = ${folder}/ca.pem
signer_key = ${folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
`;
const EXTENSIONS = 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=';

export interface Authority extends Place {
  /** A file of the certificate that its chain leads to. */
  readonly rootsFile: string;
}

/** An authority in this folder, which stamps for those whose header `Authorization` it allows. */
export async function startAuthority(
  folder: string,
  allows: (header: string | undefined) => boolean = () => true,
): Promise<Authority> {
  const at = (name: string) => path.join(folder, name);
  const openssl = (...words: string[]) => run('openssl', words, { cwd: folder });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '3650', '-subj', '/CN=Test CA');
  await openssl('req', ...key, '-keyout', 'tsa.key', '-out', 'tsa.csr', '-subj', '/CN=Test TSA');
  await writeFile(at('extensions'), `${EXTENSIONS}critical,timeStamping\n`);
  const signed = ['-req', '-in', 'tsa.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '3650'];
  await openssl('x509', ...signed, '-extfile', 'extensions', '-out', 'tsa.pem');
  await writeFile(at('tsa.cnf'), TSA(folder));
  await writeFile(at('serial'), '01\n');
  const place = await startPlace(async (request, body, response) => {
    if (!allows(request.headers.authorization)) {
      response.writeHead(401).end();
      return;
    }
    const [query, answer] = [at(`${randomUUID()}.tsq`), at(`${randomUUID()}.tsr`)];
    await writeFile(query, body);
    await openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', query, '-out', answer);
    response.writeHead(200, { 'Content-Type': 'application/timestamp-reply' }).end(await readFile(answer));
    await Promise.all([rm(query), rm(answer)]);
  });
  return { ...place, rootsFile: at('ca.pem') };
}

export interface TokenPlace extends Place {
  readonly given: string[];
}

/** An OAuth 2 server that gives this client tokens of an hour. */
export async function startTokens(id: string, secret: string): Promise<TokenPlace> {
  const given: string[] = [];
  const place = await startPlace((request, body, response) => {
    const isKnown = request.headers.authorization === `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    if (!isKnown || body.toString() !== 'grant_type=client_credentials&scope=carimbo') {
      response.writeHead(401).end('{"error":"invalid_client"}');
      return;
    }
    given.push(randomUUID());
    response
      .writeHead(200)
      .end(JSON.stringify({ access_token: given.at(-1), token_type: 'Bearer', expires_in: 3_600 }));
  });
  return { ...place, given };
}

/** What `ask` brings of this folder's authority, signed instead by a certificate of the same chain that is for `purpose`. */
export async function stampBy(folder: string, purpose: string, ask: () => Promise<Buffer>): Promise<Buffer> {
  const openssl = (...words: string[]) => run('openssl', words, { cwd: folder });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl('req', ...key, '-keyout', 'own.key', '-out', 'own.csr', '-subj', '/CN=Other');
  await writeFile(path.join(folder, 'own.ext'), `${EXTENSIONS}${purpose}\n`);
  const signed = ['-req', '-in', 'own.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
  await openssl('x509', ...signed, '-extfile', 'own.ext', '-out', 'own.pem');
  await writeFile(path.join(folder, 'real.tsr'), await ask());
  await openssl('ts', '-reply', '-in', 'real.tsr', '-token_out', '-out', 'token.der');
  await openssl('cms', '-verify', '-noverify', '-inform', 'DER', '-in', 'token.der', '-out', 'info.der');
  const content = ['-binary', '-nodetach', '-econtent_type', 'id-smime-ct-TSTInfo', '-in', 'info.der'];
  const by = ['-signer', 'own.pem', '-inkey', 'own.key', '-outform', 'DER', '-out', 'own.der'];
  await openssl('cms', '-sign', ...content, ...by);
  const token = await readFile(path.join(folder, 'own.der'));
  const granted = Buffer.from('3003020100', 'hex');
  const head = Buffer.from([0x30, 0x82, 0, 0]);
  head.writeUInt16BE(granted.length + token.length, 2);
  return Buffer.concat([head, granted, token]);
}

export interface BucketPlace extends Place {
  readonly objects: Map<string, Buffer>;
}

/** A bucket that verifies Signature Version 4 of a request and its conditions, as S3 does. */
export async function startBucket(keyId: string, secret: string): Promise<BucketPlace> {
  const objects = new Map<string, Buffer>();
  const place = await startPlace((request, body, response) => {
    const { url = '', method, headers } = request;
    if (!isSignedV4(request, body, keyId, secret)) {
      response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
      return;
    }
    const kept = objects.get(url);
    if (method === 'GET') {
      response.writeHead(kept === undefined ? 404 : 200, { 'x-amz-version-id': 'v1' }).end(kept);
    } else if (kept !== undefined && headers['if-none-match'] === '*') {
      response.writeHead(412).end('<Error><Code>PreconditionFailed</Code></Error>');
    } else if (
      headers['x-amz-sdk-checksum-algorithm'] !== 'SHA256' ||
      headers['x-amz-checksum-sha256'] !== createHash('sha256').update(body).digest('base64')
    ) {
      response.writeHead(400).end('<Error><Code>BadDigest</Code></Error>');
    } else {
      objects.set(url, body);
      response.writeHead(200, { 'x-amz-version-id': 'v1', etag: '"x"' }).end();
    }
  });
  return { ...place, objects };
}

function isSignedV4(
  { url = '', method = '', headers }: IncomingMessage,
  body: Buffer,
  keyId: string,
  secret: string,
): boolean {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  const [, id, day = '', region = '', names = '', signature] = found ?? [];
  const bodyHash = String(headers['x-amz-content-sha256']);
  const ownHash = createHash('sha256').update(body).digest('hex');
  if (id !== keyId || !(bodyHash === ownHash || bodyHash === 'UNSIGNED-PAYLOAD')) return false;
  const [route = '', query = ''] = url.split('?');
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, route, query, lines.join(''), names, bodyHash].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const hashed = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hashed].join('\n');
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();
  const signing = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(signing, text).toString('hex') === signature;
}

export interface WitnessPlace extends Place {
  readonly key: string;
  /** The last checkpoint that it cosigned, or was made to believe in. */
  seen: TreeHead | null;
  /** What it was asked: the old size of each request. */
  readonly asked: number[];
}

/** The key of a witness that cosigns nothing. */
export const absentWitnessKey = () => cosigner('witness.example/absent', 9).key;

/** A witness of one log, as tlog-witness has it, which also answers with the cosignature of a stranger. */
export async function startWitness(log: Verifier, nowS = 1_800_000_000): Promise<WitnessPlace> {
  const one = cosigner('witness.example/w1', 7);
  const stranger = cosigner('witness.example/other', 8);
  const asked: number[] = [];
  const place = await startPlace((request, body, response) => {
    const [, old = '', proof = '', note = ''] =
      /^old (0|[1-9]\d*)\n((?:[A-Za-z0-9+/]{43}=\n)*)\n(.*)$/s.exec(body.toString()) ?? [];
    const opened = openNote(note, [log]);
    const head = opened === null ? null : readCheckpointText(opened.text);
    if (request.url !== '/add-checkpoint' || opened === null || head === null)
      return void response.writeHead(400).end();
    if (opened.signedBy.length === 0) return void response.writeHead(403).end();
    asked.push(Number(old));
    const { seen } = witness;
    const isOther = seen?.size === head.size && !seen.root.equals(head.root);
    if (Number(old) !== (seen?.size ?? 0) || isOther) {
      return void response.writeHead(409, { 'Content-Type': 'text/x.tlog.size' }).end(`${seen?.size ?? 0}\n`);
    }
    const hashes = proof
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Buffer.from(line, 'base64'));
    if (seen === null ? hashes.length > 0 : !isConsistent(seen, head, hashes))
      return void response.writeHead(422).end();
    witness.seen = { size: head.size, root: head.root };
    return void response.writeHead(200).end(stranger.cosign(opened.text, nowS) + one.cosign(opened.text, nowS));
  });
  const witness: WitnessPlace = { ...place, key: one.key, seen: null, asked };
  return witness;
}

/** A key of cosignatures, from a seed of one byte. */
function cosigner(name: string, byte: number) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, byte)]);
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const typed = Buffer.concat([
    Buffer.of(4),
    createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(12),
  ]);
  const id = createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4);
  const key = `${name}+${id.toString('hex')}+${typed.toString('base64')}`;
  if (readWitnessKey(key) === null) throw new Error('the key is not read');
  return {
    key,
    cosign(text: string, timeS: number): string {
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(BigInt(timeS));
      return `— ${name} ${Buffer.concat([id, time, sign(null, cosignedText(text, timeS), secret)]).toString('base64')}\n`;
    },
  };
}
