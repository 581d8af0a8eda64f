/** `audit anchor` as a real process, with real servers: openssl stamps, a bucket and a witness keep, a directory is written once. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Authorized } from '../../src/audit/anchor/authorization.ts';
import { directoryAnchor } from '../../src/audit/anchor/directory.ts';
import { readStamp, timestampAnchor } from '../../src/audit/anchor/timestamp.ts';
import { openCosignature, readWitnessKey } from '../../src/audit/checkpoint/cosignature.ts';
import type { Verifier } from '../../src/audit/checkpoint/note.ts';
import { measureAnchors } from '../../src/main/operations/measure-installation.ts';
import {
  absentWitnessKey,
  stampBy,
  startAuthority,
  startBucket,
  startTokens,
  startWitness,
} from '../support/anchor-places.ts';
import { type Identity, makeAuthority } from '../support/certificates.ts';
import { sealAndSign, SIGNER } from '../support/checkpoint.ts';
import { callCommand, sandboxOn } from '../support/command.ts';
import { readProof } from '../../src/audit/proof/proof.ts';
import type { CheckedReceipt } from '../../src/audit/proof/receipts.ts';
import type { Proof } from '../../src/contract/resources/audit-resource.ts';
import { createTestDatabase } from '../support/database.ts';
import { listening } from '../support/listening.ts';
import { commitEvents, insertAttempts, insertSubscriber } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const run = promisify(execFile);

const database = await createTestDatabase();
const folder = await makeTestFolder();
const directory = path.join(folder.path, 'kept');
await mkdir(directory);
const { partnerId } = await insertSubscriber(database.sql);
const authority = await startAuthority(folder.path);
const bucket = await startBucket('key-id', 'key-secret');
const witness = await startWitness(SIGNER);
await writeFile(path.join(folder.path, 's3.secret'), 'key-secret\n');
const env: Record<string, string> = {
  ...sandboxOn(database.url),
  LOG_LEVEL: 'warn',
  ANCHOR_TIMESTAMP_URL: `${authority.url}/tsa?token=secret`,
  ANCHOR_TIMESTAMP_CA_FILE: authority.rootsFile,
  ANCHOR_DIRECTORY: directory,
  ANCHOR_S3_URL: `${bucket.url}/carteiro/log`,
  ANCHOR_S3_KEY_ID: 'key-id',
  ANCHOR_S3_SECRET_FILE: path.join(folder.path, 's3.secret'),
  ANCHOR_WITNESS_URL: witness.url,
  ANCHOR_WITNESS_KEY: witness.key,
};

interface Ran {
  readonly tamanho: number;
  readonly ancoras: readonly { readonly tipo: string; readonly onde: string; readonly erro: string | null }[];
}

async function anchor(more: Record<string, string> = {}): Promise<{ code: number | null } & Ran> {
  const { code, stdout, stderr } = await callCommand(['audit', 'anchor'], { ...env, ...more });
  if (stdout === '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Ran) };
}

async function grow(): Promise<void> {
  await commitEvents(database.sql, partnerId, 3);
  await insertAttempts(database.sql);
  await untilSettled(database.sql);
  await sealAndSign(database.pool);
}

const errorsOf = ({ ancoras }: Ran) => Object.fromEntries(ancoras.map(({ tipo, erro }) => [tipo, erro]));
const NO_ERRORS = { carimbo_de_tempo: null, arquivo: null, bucket: null, testemunha: null };
const newestNote = async () => {
  const [row] = await database.sql<[{ note: string }]>`select note from checkpoints order by size desc limit 1`;
  return row.note;
};
const receipts = (size: number) => database.sql<{ kind: string; place: string; receipt: Buffer }[]>`
  select kind, place, receipt from anchor_receipts where size = ${size} order by kind`;

describe('audit anchor', () => {
  test('says what is missing where nothing is signed, or no place is named', async () => {
    const none = await callCommand(['audit', 'anchor'], env);
    const doctor = await callCommand(['doctor'], { ...env, SANDBOX: 'false' });
    expect(doctor.stdout).toMatch(/warning +checkpoints +no key signs them/);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('CHECKPOINT_KEY_FILE') as string]);
    const { DATABASE_URL = '', SANDBOX = '', SECRETS_KEY = '' } = env;
    const nowhere = await callCommand(['audit', 'anchor'], { DATABASE_URL, SANDBOX, SECRETS_KEY });
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('ANCHOR_DIRECTORY') as string]);
  });

  test('gives the newest checkpoint to four places, once, and each receipt verifies by itself', async () => {
    await grow();
    const first = await anchor();
    expect([first.code, first.tamanho, errorsOf(first)]).toEqual([0, 1, NO_ERRORS]);
    expect(JSON.stringify(first)).not.toContain('secret');
    const note = await newestNote();
    const kept = await receipts(1);
    const receiptOf = (kind: string) => kept.find((row) => row.kind === kind)?.receipt ?? Buffer.of();
    // openssl agrees, with the files that an auditor would have.
    const [file] = await readdir(directory);
    const response = path.join(folder.path, 'receipt.tsr');
    await writeFile(response, receiptOf('carimbo_de_tempo'));
    const ts = [
      'ts',
      '-verify',
      '-in',
      response,
      '-data',
      path.join(directory, file ?? ''),
      '-CAfile',
      authority.rootsFile,
    ];
    expect((await run('openssl', ts)).stdout).toContain('Verification: OK');
    expect(await readFile(path.join(directory, file ?? ''), 'utf8')).toBe(note);
    expect(receiptOf('arquivo').toString()).toBe(file);
    expect(Array.from(bucket.objects)).toEqual([[`/carteiro/log/${file}`, Buffer.from(note)]]);
    expect(receiptOf('bucket').toString()).toBe(`${bucket.url}/carteiro/log/${file}?versionId=v1`);
    const key = readWitnessKey(witness.key) as Verifier;
    expect(openCosignature(note, receiptOf('testemunha').toString(), key)).toEqual(new Date(1_800_000_000_000));
    // Nothing is asked again.
    const asked = witness.asked.length;
    expect((await anchor()).code).toBe(0);
    expect([witness.asked.length, await receipts(1)]).toEqual([asked, kept]);
  });

  test('tells a witness how the log has grown since it last saw it', async () => {
    await grow();
    await grow();
    expect(errorsOf(await anchor())).toEqual(NO_ERRORS);
    expect(witness.asked.slice(-2)).toEqual([0, 1]);
    expect(witness.seen?.size).toBe(3);
  });

  test('its receipts are in the proof of each delivery, and audit check verifies them offline', async () => {
    const [delivery] = await database.sql<{ id: string }[]>`select id from deliveries order by id limit 1`;
    const proof = await readProof(database.pool, delivery?.id ?? '');
    expect(proof?.ancoras.map(({ tipo, checkpoint }) => [tipo, checkpoint.split('\n')[1]])).toEqual([
      ['arquivo', '1'],
      ['bucket', '1'],
      ['carimbo_de_tempo', '1'],
      ['testemunha', '1'],
    ]);
    expect(JSON.stringify(proof)).not.toContain(folder.path);
    const file = path.join(folder.path, 'prova.json');
    const check = async (content: unknown, ...options: string[]) => {
      await writeFile(file, JSON.stringify(content));
      const { code, stdout } = await callCommand(['audit', 'check', file, '--key', SIGNER.text, ...options]);
      const { confere, motivo, recibos } = JSON.parse(stdout) as {
        confere: boolean;
        motivo: string;
        recibos: CheckedReceipt[];
      };
      return { code, confere, motivo, each: recibos.map((one) => one.confere), times: recibos.map(({ em }) => em) };
    };
    const trust = ['--tsa-ca', authority.rootsFile, '--witness', witness.key];
    expect(await check(proof)).toMatchObject({ code: 0, confere: true, each: [null, null, null, null] });
    expect(await check(proof, ...trust)).toMatchObject({
      code: 0,
      each: [null, null, true, true],
      times: [null, null, expect.stringMatching(/^20/) as string, new Date(1_800_000_000_000).toISOString()],
    });
    const first = proof?.ancoras[0]?.checkpoint ?? '';
    const kept = path.join(folder.path, 'kept.checkpoint');
    await writeFile(kept, first);
    const older = await readProof(database.pool, delivery?.id ?? '', 1);
    expect(await check(older, '--checkpoint', kept, ...trust)).toMatchObject({
      code: 0,
      each: [true, true, true, true],
    });
    const forged = (change: (one: Proof['ancoras'][number]) => object) =>
      check({ ...proof, ancoras: proof?.ancoras.map((one) => Object.assign({}, one, change(one))) }, ...trust);
    const cut = ({ recibo }: { recibo: string }) => Buffer.from(recibo, 'base64').subarray(0, -8).toString('base64');
    expect(await forged((one) => ({ recibo: cut(one) }))).toMatchObject({ code: 1, each: [null, null, false, false] });
    expect(await forged(() => ({ caminho: [] }))).toMatchObject({
      code: 1,
      motivo: expect.stringContaining('it forked') as string,
    });
    expect(await forged(() => ({ checkpoint: first.replace('\n1\n', '\n2\n') }))).toMatchObject({ code: 1 });
  });

  test('one that fails stops no other, and is told with its reason until it works', async () => {
    await grow();
    authority.failWith(503);
    witness.failWith(404);
    const failed = await anchor();
    expect([failed.code, errorsOf(failed)]).toEqual([
      1,
      {
        ...NO_ERRORS,
        carimbo_de_tempo: 'it answers 503',
        testemunha: expect.stringContaining('does not know our log') as string,
      },
    ]);
    expect((await receipts(4)).map(({ kind }) => kind)).toEqual(['arquivo', 'bucket']);
    const standing = await database.sql`select kind, size::int, error from anchors order by kind`;
    await database.sql`insert into scheduled_jobs (name, schedule) values ('anchor', '7 * * * *')`;
    await database.sql`update checkpoints set signed_at = now() - interval '4 hours' where size = 4`;
    const { stdout } = await callCommand(['doctor'], env);
    expect(stdout).toMatch(
      /fault +anchor carimbo_de_tempo +\S+ has 3 seals, the next for 14\d{3} s not: it answers 503/,
    );
    expect(stdout).toMatch(/ok +anchor bucket +\S+ has 4 seals\n/);
    expect(await database.pool.run((sql) => measureAnchors(sql))).toMatchObject({
      anchorLag: [
        { labels: { kind: 'arquivo' }, value: 0 },
        { labels: { kind: 'bucket' }, value: 0 },
        { labels: { kind: 'carimbo_de_tempo' }, value: expect.closeTo(14_400, -3) as number },
        { labels: { kind: 'testemunha' } },
      ],
    });
    expect(standing).toMatchObject([{ size: 4 }, { size: 4 }, { size: 3, error: 'it answers 503' }, { size: 3 }]);
    await grow();
    authority.failWith(200);
    witness.failWith(null);
    await rename(directory, `${directory}.away`);
    expect(errorsOf(await anchor())).toEqual({
      ...NO_ERRORS,
      carimbo_de_tempo: expect.stringContaining('it is none of RFC 3161: the URL must be the one') as string,
      arquivo: 'the directory is not there: make it, or mount it',
    });
    await rename(`${directory}.away`, directory);
    authority.failWith(null);
    expect((await anchor()).code).toBe(0);
    expect(await database.sql`select from anchors where error is not null or size < 5`).toEqual([]);
  });

  test('what was anchored is never overwritten', async () => {
    await grow();
    const name = `000000000000006-${Buffer.from((await newestNote()).split('\n')[2] ?? '', 'base64').toString('hex', 0, 4)}.checkpoint`;
    await writeFile(path.join(directory, name), 'something else');
    bucket.objects.set(`/carteiro/log/${name}`, Buffer.from('something else'));
    const found = errorsOf(await anchor());
    expect(found['arquivo']).toBe(`${path.join(directory, name)} is there with another content`);
    expect(found['bucket']).toBe(`${bucket.url}/carteiro/log/${name} is there with another content`);
    expect(await readFile(path.join(directory, name), 'utf8')).toBe('something else');
    expect(bucket.objects.get(`/carteiro/log/${name}`)?.toString()).toBe('something else');
  });

  test('a witness that saw another log, or more of it, says so', async () => {
    await grow();
    const seen = witness.seen;
    witness.seen = { size: 4, root: Buffer.alloc(32, 1) };
    expect(errorsOf(await anchor())['testemunha']).toContain('does not accept that this log grew out');
    witness.seen = { size: 7, root: Buffer.alloc(32, 1) };
    expect(errorsOf(await anchor())['testemunha']).toContain('another root of 7 seals');
    witness.seen = { size: 9, root: Buffer.alloc(32, 1) };
    expect(errorsOf(await anchor())['testemunha']).toContain('it saw 9 seals of this log, which has 7');
    witness.seen = seen;
    const absent = await anchor({ ANCHOR_WITNESS_KEY: absentWitnessKey() });
    expect(errorsOf(absent)['testemunha']).toContain('its key witness.example/absent has not cosigned');
    expect(await database.sql`select from anchor_receipts where place = 'witness.example/absent'`).toEqual([]);
    const key = witness.key.replace(/\+[0-9a-f]{8}\+/, '+00000000+');
    const refused = await callCommand(['audit', 'anchor'], { ...env, ANCHOR_WITNESS_KEY: key });
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/ANCHOR_WITNESS_KEY: is no key/) as string,
    ]);
  });

  test('a wrong secret of the bucket, and a signature of the log that the witness does not trust, are told', async () => {
    const wrong = path.join(folder.path, 'wrong.secret');
    await writeFile(wrong, 'x');
    bucket.objects.clear();
    expect(
      errorsOf(await anchor({ ANCHOR_S3_URL: `${bucket.url}/b`, ANCHOR_S3_SECRET_FILE: wrong }))['bucket'],
    ).toContain('it answers 403 SignatureDoesNotMatch: put the secret of ANCHOR_S3_KEY_ID into ANCHOR_S3_SECRET_FILE');
    expect(await database.sql`select from anchors where place = ${`${bucket.url}/carteiro/log`} and active`).toEqual(
      [],
    );
  });
});

describe('a time stamp', () => {
  test('is refused when another authority made it, for another text, by a certificate for something else, or damaged', async () => {
    const note = await newestNote();
    const roots = await readFile(authority.rootsFile, 'utf8');
    const place = timestampAnchor({ url: authority.url, roots });
    const ask = () => place.put({ size: 1, note }, () => Promise.resolve([]));
    const response = await ask();
    expect(await readStamp(response, note, roots)).toMatchObject({ isTrusted: true });
    expect(await readStamp(response, note, null)).toMatchObject({ isTrusted: false });
    expect(await readStamp(response, `${note}x`, roots)).toEqual({ wrong: 'it is of another text' });
    const damaged = Buffer.from(response);
    const last = damaged.length - 1;
    damaged[last] = (damaged[last] ?? 0) ^ 1;
    expect(await readStamp(damaged, note, roots)).toHaveProperty('wrong');
    expect(await readStamp(response.subarray(0, 200), note, roots)).toHaveProperty('wrong');

    const others = path.join(folder.path, 'others');
    await mkdir(others);
    const other = await startAuthority(others);
    expect(await readStamp(response, note, await readFile(other.rootsFile, 'utf8'))).toHaveProperty('wrong');
    await other.close();
    const stamped = (purpose: string) => stampBy(folder.path, purpose, ask);
    expect(await readStamp(await stamped('codeSigning'), note, roots)).toEqual({
      wrong: 'its signer may not make time stamps',
    });
    expect(await readStamp(await stamped('critical,timeStamping'), note, roots)).toMatchObject({ isTrusted: true });
  });
});

test('a file is made once, readable by all and writable by nobody', async () => {
  const note = await newestNote();
  const own = path.join(folder.path, 'own');
  await mkdir(own);
  const name = (await directoryAnchor(own).put({ size: 1, note }, () => Promise.resolve([]))).toString();
  expect((await stat(path.join(own, name))).mode & 0o777).toBe(0o444);
  expect((await directoryAnchor(own).put({ size: 1, note }, () => Promise.resolve([]))).toString()).toBe(name);
  await chmod(own, 0o700);
  await expect(
    directoryAnchor(path.join(own, 'away')).put({ size: 1, note }, () => Promise.resolve([])),
  ).rejects.toThrow('the directory is not there');
});

describe('an authority that knows its callers', () => {
  const at = (name: string) => path.join(folder.path, name);
  const NOTE = 'carteiro.test/log\n1\nx\n';
  const none = { authFile: null, certFile: null, keyFile: null };

  /** Stamps of an authority of a folder of its own, asked with this line. */
  async function startClosed(name: string, allows: (header: string | undefined) => boolean, line: string) {
    await mkdir(at(name));
    const closed = await startAuthority(at(name), allows);
    const authFile = at(`${name}.auth`);
    await writeFile(authFile, `${line}\n`);
    let nowMs = 0;
    const authorized = new Authorized({ ...none, authFile }, () => nowMs);
    const roots = await readFile(closed.rootsFile, 'utf8');
    const anchor = timestampAnchor({ url: closed.url, roots, ask: (url, init) => authorized.ask(url, init) });
    const stamp = () => anchor.put({ size: 1, note: NOTE }, () => Promise.resolve([]));
    return { closed, authFile, stamp, pass: (ms: number) => (nowMs += ms) };
  }

  test.each([
    ['basic', 'basic ana:segredo', `Basic ${Buffer.from('ana:segredo').toString('base64')}`],
    ['bearer', 'bearer abc.def', 'Bearer abc.def'],
  ])('is shown %s of the file, and openssl accepts its stamp', async (name, line, header) => {
    const { closed, authFile, stamp } = await startClosed(name, (shown) => shown === header, line);
    await writeFile(at(`${name}.note`), NOTE);
    await writeFile(at(`${name}.tsr`), await stamp());
    const ts = ['ts', '-verify', '-in', at(`${name}.tsr`), '-data', at(`${name}.note`), '-CAfile', closed.rootsFile];
    expect((await run('openssl', ts)).stdout).toContain('Verification: OK');
    await writeFile(authFile, `${line}x`);
    await expect(stamp()).rejects.toThrow('it answers 401');
    await writeFile(authFile, 'segredo');
    const failed = await stamp().catch((error: Error) => error.message);
    expect(failed).toContain('ANCHOR_TIMESTAMP_AUTH_FILE: must hold one line');
  });

  test('over mutual TLS is shown the client certificate of the files, a rotated one from the next stamp on', async () => {
    const [server, clients] = [makeAuthority(), makeAuthority()];
    const known = getCACertificates();
    setDefaultCACertificates([...known, server.ca]);
    await mkdir(at('mtls'));
    const closed = await startAuthority(at('mtls'), (shown) => shown === 'Bearer abc.def');
    const shown: string[] = [];
    const tls = { ...server.issue(['localhost']), ca: clients.ca, requestCert: true, rejectUnauthorized: true };
    const front = createServer(tls, (request, response) => {
      shown.push((request.socket as TLSSocket).getPeerCertificate().fingerprint256);
      const { authorization = '' } = request.headers;
      void buffer(request)
        .then((body) => fetch(closed.url, { method: 'POST', body, headers: { authorization } }))
        .then(async (answer) => {
          const type = answer.headers.get('content-type') ?? '';
          response.writeHead(answer.status, { 'content-type': type }).end(Buffer.from(await answer.arrayBuffer()));
        });
    });
    const url = `https://localhost:${await listening(front)}/`;
    const [certFile, keyFile, authFile] = [at('tsa-client.pem'), at('tsa-client.key'), at('tsa-client.auth')];
    const show = (one: Identity) => Promise.all([writeFile(certFile, one.cert), writeFile(keyFile, one.key)]);
    await writeFile(authFile, 'bearer abc.def\n');
    const authorized = new Authorized({ authFile, certFile, keyFile }, () => 0);
    const roots = await readFile(closed.rootsFile, 'utf8');
    const stampBy = (by: Authorized) =>
      timestampAnchor({ url, roots, ask: (to, init) => by.ask(to, init) }).put({ size: 1, note: NOTE }, () =>
        Promise.resolve([]),
      );
    try {
      const [first, second] = [clients.issue(['carteiro']), clients.issue(['carteiro'])];
      await show(first);
      await writeFile(at('mtls.note'), NOTE);
      await writeFile(at('mtls.tsr'), await stampBy(authorized));
      const ts = ['ts', '-verify', '-in', at('mtls.tsr'), '-data', at('mtls.note'), '-CAfile', closed.rootsFile];
      expect((await run('openssl', ts)).stdout).toContain('Verification: OK');
      await show(second);
      await stampBy(authorized);
      expect(shown).toEqual([first, second].map(({ cert }) => new X509Certificate(cert).fingerprint256));
      await show(makeAuthority().issue(['carteiro']));
      await expect(stampBy(authorized)).rejects.toThrow('it does not answer');
      await expect(stampBy(new Authorized({ ...none, authFile }, () => 0))).rejects.toThrow('it does not answer');
      expect(shown).toHaveLength(2);
      await show({ ...first, key: second.key });
      const failed = await stampBy(authorized).catch((error: Error) => error.message);
      expect(failed).not.toContain('PRIVATE');
    } finally {
      setDefaultCACertificates(known);
    }
  });

  test('is shown a token that is asked once, asked anew before its end and after a 401', async () => {
    const tokens = await startTokens('id', 's3gredo');
    let revoked = '';
    const allows = (shown: string | undefined) => shown === `Bearer ${tokens.given.at(-1)}` && shown !== revoked;
    const line = `oauth2 ${tokens.url}/token id s3gredo carimbo`;
    const { authFile, stamp, pass } = await startClosed('oauth2', allows, line);
    await stamp();
    await stamp();
    expect(tokens.given).toHaveLength(1);
    pass(3_540_000);
    await stamp();
    expect(tokens.given).toHaveLength(2);
    revoked = `Bearer ${tokens.given.at(-1)}`;
    await stamp();
    expect(tokens.given).toHaveLength(3);
    await writeFile(authFile, `oauth2 ${tokens.url}/token id wrong carimbo`);
    const failed = await stamp().catch((error: Error) => error.message);
    expect(failed).toBe('the token server of ANCHOR_TIMESTAMP_AUTH_FILE answers 401 without a token');
  });
});
