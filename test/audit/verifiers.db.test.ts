/** Verifiers that strangers may run: ours in Python's standard library, and golang.org/x/mod/sumdb, which nobody here wrote. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test, type TestContext } from 'vitest';
import { checkpointHeader, signCheckpoint } from '../../src/audit/checkpoint/checkpoint.ts';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { isConsistent, leafHash, rootOf } from '../../src/audit/seals/tree/merkle.ts';
import type { Proof } from '../../src/contract/resources/audit-resource.ts';
import { startApi } from '../support/api.ts';
import { sealAndSign, SIGNER } from '../support/checkpoint.ts';
import { startEngine } from '../support/engine.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { isThere } from '../support/snippets.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const run = promisify(execFile);
const VERIFIERS = path.resolve(import.meta.dirname, '../../src/audit/verifiers');
const ROUNDS = 6;
const notes: string[] = [];

async function read(address: string) {
  const answer = await api.app.request(address);
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** Runs the program of src/audit/verifiers/go, and returns what it says; null without a Go to build it. */
async function buildGo() {
  if (!(await isThere(['go', 'version']))) return null;
  const binary = path.join(folder.path, 'carteiro-audit');
  await run('go', ['build', '-o', binary, '.'], { cwd: path.join(VERIFIERS, 'go') });
  return (...words: string[]) =>
    run(binary, words).then(
      ({ stdout }) => stdout.trim(),
      ({ stdout, stderr }: { stdout: string; stderr: string }) => (stdout + stderr).trim(),
    );
}

const fileOf = async (name: string, content: string) => {
  const file = path.join(folder.path, name);
  await writeFile(file, content);
  return file;
};

const api = await startApi();
const folder = await makeTestFolder();
const go = await buildGo();
const NO_GO = 'there is no Go here';
const receiver = await startReceiver();
receiver.answerWith(status(200, 'obrigado, João'));
const { sql, pool } = api.database;
const { partnerId } = await insertSubscriber(sql, receiver.url);
// The database's own clock: the rounds take as long as they take.
const engine = startEngine(pool, { now: () => null });
for (let round = 0; round < ROUNDS; round += 1) {
  await commitEvents(sql, partnerId, 5);
  await engine.poll();
  await untilSettled(sql);
  await sealAndSign(pool);
  notes.push((await read('/v1/evidencia/checkpoint')).bytes.toString());
}
await engine.close();
await receiver.close();
const [row] = await sql<[{ id: string }]>`select id from deliveries order by id offset 12 limit 1`;
const token = await api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
const { body: proof } = await api.send<Proof>('GET', `/v1/auditoria/entregas/${row.id}/prova`, { token });

/** The same proof, of a delivery whose event was erased. */
async function readErased(): Promise<Proof> {
  const { sql, pool } = api.database;
  const { id, evento_id: event } = proof.entrega;
  await sql`insert into erasure_orders (id, actor, reason, events, pages) values (${id}, 'ana', 'x', 1, 1)`;
  await sql`
    insert into erasure_pages (order_id, number, event_ids, remains)
    select ${id}, 1, array[e.id], array[sha256(convert_to(erased(e.data)::text, 'UTF8'))] from events e where e.id = ${event}`;
  await sql`select erase_page(${id}, 1)`;
  await untilSettled(sql);
  await sealAndSign(pool);
  const token = await api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
  return (await api.send<Proof>('GET', `/v1/auditoria/entregas/${id}/prova`, { token })).body;
}

test('a partner’s own proof is whole: ours, Python and Go say true', async (context: TestContext) => {
  const own = await api.token(partnerId, ['webhooks:read']);
  const { body, text } = await api.send<Proof>('GET', `/v1/entregas/${row.id}/prova`, { token: own });
  expect(body.retido).toBeNull();
  expect(checkProof(text, { keys: [SIGNER] })).toMatchObject({
    fits: true,
    facts: { entrega: { status: 'entregue' } },
  });
  const file = await fileOf('own.json', text);
  const words = [path.join(VERIFIERS, 'carteiro_audit.py'), 'check', file, SIGNER.text];
  expect(JSON.parse((await run('python3', words)).stdout)).toEqual({ confere: true, motivo: null });
  if (go === null) context.skip(NO_GO);
  expect(await go('check', file, SIGNER.text)).toBe('{"confere":true,"motivo":null}');
});

test('PHP says true of a partner’s own proof', async ({ skip }) => {
  skip(!(await isThere(['php', '--version'])), 'there is no PHP here');
  const own = await api.token(partnerId, ['webhooks:read']);
  const { text } = await api.send<Proof>('GET', `/v1/entregas/${row.id}/prova`, { token: own });
  const file = await fileOf('php.json', text);
  const php = await run('php', [path.join(VERIFIERS, 'carteiro_audit.php'), 'check', file, SIGNER.text]);
  expect(JSON.parse(php.stdout)).toEqual({ confere: true, motivo: null });
});

const sizeOf = (note: string) => Number(note.split('\n')[1]);
const headOf = (note: string) => ({ size: sizeOf(note), root: Buffer.from(note.split('\n')[2] ?? '', 'base64') });
const [first, last] = [() => notes[1] ?? '', () => notes.at(-1) ?? ''];
const consistency = () => read(`/v1/evidencia/consistencia?de=${sizeOf(first())}&ate=${sizeOf(last())}`);

describe('the log’s public face', () => {
  test('needs no token, and may be cached: keys, checkpoint, consistency, tiles', async () => {
    const keys = await read('/.well-known/carteiro-checkpoint-keys');
    expect(keys.bytes.toString()).toBe(`${SIGNER.text}\n`);
    expect(keys.headers.get('cache-control')).toContain('public');
    expect(last()).toMatch(
      /^carteiro\.test\/log\n\d+\n[A-Za-z0-9+/]{43}=\n\n— carteiro\.test\/log [A-Za-z0-9+/]+=*\n$/,
    );
    const { bytes, headers } = await consistency();
    expect(headers.get('cache-control')).toContain('immutable');
    const { caminho } = JSON.parse(bytes.toString()) as { caminho: string[] };
    const hashes = caminho.map((hash) => Buffer.from(hash, 'base64'));
    expect(isConsistent(headOf(first()), headOf(last()), hashes)).toBe(true);
    const size = sizeOf(last());
    const tile = await read(`/v1/evidencia/tile/0/000.p/${size}`);
    expect(rootOf(tile.bytes)).toEqual(headOf(last()).root);
    const entries = await read(`/v1/evidencia/tile/entries/000.p/${size}`);
    const length = entries.bytes.readUInt16BE();
    expect(leafHash(entries.bytes.subarray(2, 2 + length))).toEqual(tile.bytes.subarray(0, 32));
  });

  test.each([
    ['/v1/evidencia/tile/0/000', 404],
    ['/v1/evidencia/tile/0/x000/000.p/1', 404],
    ['/v1/evidencia/tile/64/000.p/1', 404],
    ['/v1/evidencia/consistencia?de=1&ate=9999', 404],
    ['/v1/evidencia/consistencia?de=2&ate=1', 400],
    ['/v1/evidencia/consistencia?de=0&ate=1', 400],
    ['/v1/evidencia/consistencia?de=1&ate=2&x=1', 400],
    ['/v1/evidencia/consistencia', 400],
  ])('%s is %i', async (address, expected) => {
    expect((await read(address)).status).toBe(expected);
  });
});

describe('Python', () => {
  const python = async (...words: string[]) =>
    run('python3', [path.join(VERIFIERS, 'carteiro_audit.py'), ...words]).then(
      () => 0,
      (error: { code: number }) => error.code,
    );

  test('takes a proof and a consistency, and no forged one', async () => {
    expect(await python('check', await fileOf('p.json', JSON.stringify(proof)), SIGNER.text)).toBe(0);
    expect(await python('check', await fileOf('p.json', JSON.stringify(proof)))).toBe(3);
    const forged: Proof[] = [
      { ...proof, corpo: proof.corpo.replace('desembolso', 'reembolso') },
      { ...proof, evento: { ...proof.evento, indice: (proof.evento?.indice ?? 0) + 64 } as Proof['evento'] },
      { ...proof, checkpoint: (proof.checkpoint ?? '').replace(/\n(\d)/, '\n9$1') },
      { ...proof, entrega: { ...proof.entrega, webhook_id: proof.entrega.id } },
      { ...proof, tentativas: [] },
      { ...proof, tentativas: proof.tentativas.map((row) => Object.assign({}, row, { resposta: null, sal: null })) },
      { ...proof, entrega: { ...proof.entrega, status: 'erro' } },
    ];
    expect(proof).toMatchObject({ entrega: { status: 'entregue' }, tentativas: [{ tabela: 'attempts' }] });
    for (const one of forged) {
      expect(await python('check', await fileOf('f.json', JSON.stringify(one)), SIGNER.text)).toBe(1);
    }
    const answer = await fileOf('c.json', (await consistency()).bytes.toString());
    const [old, now] = [await fileOf('old', first()), await fileOf('now', last())];
    expect(await python('consistency', answer, old, now, SIGNER.text)).toBe(0);
    expect(await python('consistency', answer, await fileOf('x', notes[2] ?? ''), now, SIGNER.text)).toBe(1);
  });
});

describe('golang.org/x/mod/sumdb', () => {
  test('takes our checkpoints, inclusions and consistencies, and no forged one', async (context: TestContext) => {
    if (go === null) context.skip(NO_GO);
    const check = async (one: object) => go('check', await fileOf('p.json', JSON.stringify(one)), SIGNER.text);
    expect(await check(proof)).toBe('{"confere":true,"motivo":null}');
    expect(await check(await readErased())).toBe('{"confere":true,"motivo":null}');
    const moved = { ...proof, evento: { ...proof.evento, indice: (proof.evento?.indice ?? 0) ^ 1 } };
    expect(await check(moved)).toBe('{"confere":false,"motivo":"a row does not lead to its seal"}');
    expect(await go('check', await fileOf('p.json', JSON.stringify(proof)))).toContain('"confere":null');
    const answer = await fileOf('c.json', (await consistency()).bytes.toString());
    const [old, now] = [await fileOf('old', first()), await fileOf('now', last())];
    expect(await go('consistency', answer, old, now, SIGNER.text)).toBe('ok');
    expect(await go('consistency', answer, await fileOf('x', notes[2] ?? ''), now, SIGNER.text)).not.toBe('ok');
    const changed = await fileOf('y', last().replace('\n', 'x\n'));
    expect(await go('consistency', answer, old, changed, SIGNER.text)).toContain('invalid signature');
  });
});

test('golang.org/x/mod/sumdb judges each as published', async (context: TestContext) => {
  if (go === null) context.skip(NO_GO);
  expect(await go('vectors', path.join(VERIFIERS, 'vectors.json'))).toMatch(/^1\d\d vectors as published$/);
});

test('golang.org/x/mod/sumdb/note verifies the header, and no changed one', async (context: TestContext) => {
  if (go === null) context.skip(NO_GO);
  const line = checkpointHeader(signCheckpoint({ size: 41, root: Buffer.alloc(32, 1) }, [SIGNER]));
  expect(await go('header', line, SIGNER.text)).toBe('ok');
  expect(await go('header', line.replace(' 41 ', ' 42 '), SIGNER.text)).toContain('invalid signature');
  expect(await go('header', 'x', SIGNER.text)).toContain('malformed');
});
