import { InvalidArgumentError } from 'commander';
import { writeFile } from 'node:fs/promises';
import { runAnchors } from '../../audit/anchor/run-anchors.ts';
import { checkpointHeader, writeHead } from '../../audit/checkpoint/checkpoint.ts';
import { makeKey, readSigner } from '../../audit/checkpoint/note.ts';
import { readCheckpoint, signHead } from '../../audit/checkpoint/stored.ts';
import { holdDrill } from '../../audit/drill.ts';
import { readProof } from '../../audit/proof/proof.ts';
import { readTreeHead } from '../../audit/seals/seal-log.ts';
import { sealAll } from '../../audit/seals/sealer.ts';
import { readHead, readInteger, readText, readUuid } from '../arguments.ts';
import { command, EXIT, option, Refusal, required, UsageError, type Group } from '../command.ts';
import { READING, runJob, withJobPool } from '../job-pool.ts';
import { orMissing } from '../refused.ts';
import { readCheckpointKeys } from '../service/key-files.ts';
import { balance } from './audit/balance.ts';
import { check } from './audit/check.ts';
import { report } from './audit/report.ts';
import { verify } from './audit/verify.ts';

const seal = command({
  summary: 'seal what is settled now',
  help: `
Hashes what is settled and not sealed yet, appends it to the log, and signs the head with CHECKPOINT_KEY_FILE. api and poll do this
every half minute by themselves; this is for a database without either, or to have the newest rows in the log now.

Output: {"selos": 3, "linhas": 139264}, what this run added.`,
  exits: { done: 'all that is settled is sealed' },
  async run(_, line) {
    const { signers } = await readCheckpointKeys(line.configure().config);
    return runJob(line, async (pool) => {
      const { seals, rows } = await sealAll(pool);
      await pool.transaction((tx) => signHead(tx, signers));
      return { summary: { selos: seals, linhas: rows }, isGood: true };
    });
  },
});

const head = command({
  summary: 'print the newest checkpoint, to be kept outside',
  help: `
The newest signed head of the log, to be kept where nobody who can write to the database can: a notary, a mailbox, a sheet of
paper. It stands for every row under it. Every delivery carries it, too, in X-Carteiro-Checkpoint.

Output: one line, origin, number of seals, root and signature, as the header has it; 19:9f3c…, number and root, where no key signs;
nothing when there is no seal yet.`,
  exits: { done: 'the newest head was printed, or there is none yet' },
  async run(_, line) {
    const { signed, own } = await withJobPool(
      line,
      (pool) => pool.run(async (sql) => ({ signed: await readCheckpoint(sql), own: await readTreeHead(sql) })),
      READING,
    );
    if (signed !== null) line.print(checkpointHeader(signed.note));
    else if (own !== null) line.print(writeHead(own));
  },
});

const drill = command({
  summary: 'exercise what would be needed on a bad day: an archived month, a proof, the verifiers, a kept head',
  options: {
    kept: option('--kept <head>', 'a head that a receiver or a place outside kept', readHead),
  },
  help: `
Chance picks an archived month, whose files are read and hashed as archive verify does, and of whose attempts PostgreSQL makes rows
as archive restore does: each must be the sealed one; nothing is written. And a delivery that arrived, whose proof is made and judged
by audit check and, where there are Python and PHP, by the verifiers beside it. --kept is held against the log.

Output: {"mes": "2026-10", "restaurado": {"linhas": 500224, "segundos": 71.3}, "entrega": "019a…",
  "provas": {"propria": true, "python": true, "php": null}, "guardada": null, "faltas": [], "confere": true};
null: there was nothing of the kind to exercise; confere is null where there was nothing at all.`,
  exits: { done: 'all that could be exercised holds', refused: 'something does not: faltas says what' },
  async run({ kept = null }, line) {
    const { tryRestore } = await import('../../archive/try-restore.ts');
    const { verifyMonth } = await import('../../archive/verify-month.ts');
    const { archiveReads, placesOf } = await import('../service/archives.ts');
    return runJob(line, async (pool, { config }) => {
      const openPlace = await placesOf(config);
      const found = await holdDrill(pool, {
        kept,
        keys: (await readCheckpointKeys(config)).verifiers,
        delivery: (await archiveReads(config, pool)).delivery,
        tryRestore: async (month) => tryRestore(pool, openPlace, await verifyMonth(pool, openPlace, month)),
      });
      const { mes, entrega, guardada, faltas } = found;
      const isIdle = mes === null && entrega === null && guardada === null;
      return { summary: { ...found, confere: isIdle ? null : faltas.length === 0 }, isGood: faltas.length === 0 };
    });
  },
});

const anchor = command({
  summary: 'give the newest checkpoint to the places outside that the settings name',
  help: `
Each place that does not have the newest checkpoint gets it, and its receipt is stored: a time stamp (RFC 3161), a file in a
directory that nobody rewrites, an object of an S3 bucket, a witness's cosignature (C2SP). The failure of one stops no other. The
evidence of a delivery shows the receipts, and audit check verifies them. api runs this by itself every hour (JOB_ANCHOR).

The places: ANCHOR_TIMESTAMP_URL, ANCHOR_DIRECTORY, ANCHOR_S3_URL, ANCHOR_WITNESS_URL.

Output: {"tamanho": 41, "ancoras": [{"tipo": "testemunha", "onde": "witness.example/w1", "erro": null}]}; tamanho counts seals.`,
  exits: { done: 'each place has the newest checkpoint', refused: 'a place failed, or no checkpoint was signed yet' },
  async run(_, line) {
    const { openAnchors } = await import('../service/anchors.ts');
    const anchors = await openAnchors(line.configure().config);
    if (anchors.length === 0) {
      throw new UsageError(
        'no place is named: set ANCHOR_TIMESTAMP_URL, ANCHOR_DIRECTORY, ANCHOR_S3_URL or ANCHOR_WITNESS_URL',
      );
    }
    return runJob(line, async (pool) => {
      const found = await runAnchors(pool, anchors);
      if (found === null) {
        throw new Refusal(
          'no checkpoint was signed yet: api, poll and audit seal sign with the key of CHECKPOINT_KEY_FILE',
        );
      }
      const ancoras = found.results.map(({ kind, place, error }) => ({ tipo: kind, onde: place, erro: error }));
      return { summary: { tamanho: found.size, ancoras }, isGood: ancoras.every(({ erro }) => erro === null) };
    });
  },
});

const proof = command({
  summary: 'print the evidence of one delivery',
  takes: { delivery: { about: 'the delivery’s id', read: readUuid } },
  options: {
    size: option(
      '--size <seals>',
      'under the checkpoint of so many seals; the newest unless given',
      readInteger(1, 1e15),
    ),
  },
  help: `
The delivery's event, the body, its attempts and who had it sent again, each row with its way to a signed checkpoint. Store the
output as a file; audit check checks it without a database. A login that may not see CPFs gets it masked: body, answers, salts
and the rows with a CPF are withheld, and audit check says so.

Output: one line of JSON, as GET /v1/auditoria/entregas/{id}/prova answers.`,
  exits: { done: 'the evidence was printed', refused: 'there is no such delivery' },
  async run({ delivery, size = null }, line) {
    const { archiveReads } = await import('../service/archives.ts');
    const found = await withJobPool(
      line,
      async (pool, { config }) => readProof(pool, delivery, size, (await archiveReads(config, pool)).delivery),
      READING,
    );
    line.print(JSON.stringify(orMissing(found, 'delivery', delivery)));
  },
});

function readName(text: string): string {
  if (!/^[\w.-]+(\/[\w./-]+)?$/.test(text) || text.length > 100) {
    throw new InvalidArgumentError('Give a host and a path without a scheme: carteiro.example.com/log.');
  }
  return text;
}

const key = command({
  summary: 'make a key that signs checkpoints',
  options: {
    name: required('--name <name>', 'the log’s name, as others shall know it: carteiro.example.com/log', readName),
    file: required('--file <file>', 'where the key is written; it must not be there yet', readText),
  },
  help: `
Writes an Ed25519 key into a file that only you can read, in the form of golang.org/x/mod/sumdb/note. Name the file in
CHECKPOINT_KEY_FILE of api and poll. A log keeps its name for ever: give a new key the same one.

Output: the public key, for auditors and partners: carteiro.example.com/log+9f3c2b11+AQ…`,
  exits: { done: 'the key was made', refused: 'the file is there already, or cannot be written', outOfReach: null },
  async run({ name, file }, { print }) {
    const made = makeKey(name);
    await writeFile(file, `${made}\n`, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      throw new Refusal(
        error.code === 'EEXIST'
          ? `${file} is there already: give another name`
          : `${file} cannot be written: ${error.message}`,
      );
    });
    print(readSigner(made)?.text ?? '');
    return EXIT.done;
  },
});

export const checkpoint: Group = { about: '', commands: { key } };

export const audit: Group = {
  about: 'seals, balance and evidence',
  commands: { seal, verify, head, drill, report, anchor, balance, proof, check },
};
