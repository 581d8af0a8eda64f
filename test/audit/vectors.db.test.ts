/** The published vectors: made anew by this tree they are the same bytes, and four verifiers judge each as it says. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openCheckpoint, openHeader } from '../../src/audit/checkpoint/checkpoint.ts';
import { readVerifier, type Verifier } from '../../src/audit/checkpoint/note.ts';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { isConsistent, leafHash, rootByInclusion, rootOf } from '../../src/audit/seals/tree/merkle.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeVectors } from '../support/evidence-vectors.ts';
import { isThere } from '../support/snippets.ts';

const run = promisify(execFile);
const VERIFIERS = path.resolve(import.meta.dirname, '../../src/audit/verifiers');
const FILE = path.join(VERIFIERS, 'vectors.json');

const database = await createTestDatabase();
const vectors = await makeVectors(database.sql);

const bytes = (text: string) => Buffer.from(text, 'base64');
const reported = (cases: readonly { name: string; valid: boolean }[]) =>
  cases.map(({ name, valid }) => `${name}: ${valid}`);

test('PostgreSQL and this tree make the published file again', async () => {
  await expect(`${JSON.stringify(vectors, null, 2)}\n`).toMatchFileSnapshot(FILE);
});

test('ours judges each as published', () => {
  const { rows, turn, seals, roots, inclusion, consistency, checkpoints, headers } = vectors;
  const keys = vectors.keys.map((key) => readVerifier(key) as Verifier);
  for (const { entry, leaf } of rows) expect(leafHash(bytes(entry))).toEqual(bytes(leaf));
  const salted = rows.flatMap(({ fields, salt, committed }) =>
    salt === undefined || committed === undefined ? [] : [{ fields, salt: bytes(salt), committed }],
  );
  expect(salted.map(({ fields }) => fields?.['commitment'])).toEqual(
    salted.map(({ salt, committed }) => createHash('sha256').update(salt).update(committed).digest('hex')),
  );
  expect(rootOf(Buffer.concat(turn.leaves.map(bytes)))).toEqual(bytes(turn.root));
  expect(seals[0]?.entry).toContain(turn.root);
  const leaves = Buffer.concat(seals.map(({ leaf }) => bytes(leaf)));
  for (const { size, root } of roots) expect(rootOf(leaves.subarray(0, size * 32))).toEqual(bytes(root));
  const found = inclusion.map(({ name, leaf, index, size, root, path: way }) => {
    return { name, valid: rootByInclusion(bytes(leaf), index, size, way.map(bytes))?.equals(bytes(root)) ?? false };
  });
  expect(reported(found)).toEqual(reported(inclusion));
  const grown = consistency.map(({ name, old, old_root: oldRoot, size, root, path: way }) => {
    return {
      name,
      valid: isConsistent({ size: old, root: bytes(oldRoot) }, { size, root: bytes(root) }, way.map(bytes)),
    };
  });
  expect(reported(grown)).toEqual(reported(consistency));
  const opened = checkpoints.map(({ name, note }) => ({ name, valid: openCheckpoint(note, keys) !== null }));
  expect(reported(opened)).toEqual(reported(checkpoints));
  const lines = headers.filter(({ header }) => header !== '');
  expect(reported(lines.map(({ name, header }) => ({ name, valid: openHeader(header, keys) !== null })))).toEqual(
    reported(lines.map(({ name, verdict }) => ({ name, valid: verdict !== 'forged' }))),
  );
});

test('ours judges each proof as published', () => {
  const keys = vectors.keys.map((key) => readVerifier(key) as Verifier);
  const texts = new Map<string, string>();
  const judged = vectors.proofs.map((one) => {
    let text = 'text' in one ? one.text : (texts.get(one.of) ?? '');
    for (const [from, to] of 'edits' in one ? one.edits : []) text = text.replace(from, () => to);
    texts.set(one.name, text);
    const { fits, reason } = checkProof(text, { keys });
    return { name: one.name, verdict: fits, ...(fits !== one.verdict && { reason }) };
  });
  expect(judged).toEqual(vectors.proofs.map(({ name, verdict }) => ({ name, verdict })));
});

/** They print what they judge otherwise than it is published, and how many they judged. */
test('Python judges each as published', async () => {
  const { stdout } = await run('python3', [path.join(VERIFIERS, 'carteiro_audit.py'), 'vectors', FILE]);
  expect(JSON.parse(stdout)).toEqual({ otherwise: [], vectors: 94 + vectors.proofs.length });
});

test('PHP judges each as published', async ({ skip }) => {
  skip(!(await isThere(['php', '-r', 'exit(function_exists("sodium_crypto_sign_verify_detached") ? 0 : 1);'])), NO_PHP);
  const { stdout } = await run('php', [path.join(VERIFIERS, 'carteiro_audit.php'), 'vectors', FILE]);
  // Rows are read as well as hashed.
  expect(JSON.parse(stdout)).toEqual({ otherwise: [], vectors: 94 + vectors.rows.length + 8 + vectors.proofs.length });
});

const NO_PHP = 'there is no PHP with sodium on this machine';
