import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { openCheckpoint, openHeader } from '../../../audit/checkpoint/checkpoint.ts';
import { readWitnessKey } from '../../../audit/checkpoint/cosignature.ts';
import { readVerifier, type Verifier } from '../../../audit/checkpoint/note.ts';
import { checkProof } from '../../../audit/proof/check-proof.ts';
import { MAX_BYTES } from '../../../audit/proof/proof-file.ts';
import { checkReceipts } from '../../../audit/proof/receipts.ts';
import { isCertificate, NO_CERTIFICATE } from '../../../settings/pem.ts';
import { readText } from '../../arguments.ts';
import { command, EXIT, option, UsageError } from '../../command.ts';

const TEST = 'TESTE: o parceiro recebeu um teste, e nada do que o corpo diz aconteceu';

export const check = command({
  summary: 'check the evidence of one delivery, without a database',
  takes: { file: { about: 'the proof, as it was answered', read: readText } },
  options: {
    key: option('--key <key>', 'the log’s public key, or a file of such keys, one a line', readText),
    checkpoint: option(
      '--checkpoint <checkpoint>',
      'one that was kept outside: a file, or a line of X-Carteiro-Checkpoint',
      readText,
    ),
    tsaCa: option('--tsa-ca <file>', 'certificates in PEM that a time stamp’s chain must lead to', readText),
    witness: option('--witness <key>', 'a witness’s public key, or a file of such keys, one a line', readText),
  },
  help: `
Checks a file that GET /v1/auditoria/entregas/{id}/prova or GET /v1/entregas/{id}/prova answered, without a database. The check
starts at the checkpoint, verifies its signature, and reaches the seals that lead to its root and the rows that lead to a seal.
Body, attempts, orders and status must fit these rows. Ask the log's owner for the public key, at a time when nothing is in
dispute, or find it at /.well-known/carteiro-checkpoint-keys. --checkpoint compares with one that was kept elsewhere: ask for the
proof with ?tamanho= and its number of seals.

fatos is what the sealed rows say; sem_prova what the file says beside that, and nobody vouches for. The newest attempts, or an order
to send again, can be left out of a file unseen, unless they are older than a checkpoint that you kept and gave. aviso begins with
TESTE where the delivery is a test.

Of a delivery whose worker was forgotten the text is gone. What is checked is that each attempt sent the event's body, whatever it
was, and that an order that was sealed took it away; apagado says which.

recibos tells of each place outside that keeps the log's head whether its receipt verifies: a time stamp by --tsa-ca, a
cosignature by --witness, a copy where it is given as --checkpoint. One that does not verify makes confere false.

Output: {"confere": true, "motivo": null, "aviso": null, "sem_selo": 0, "apagado": null, "fatos": {"checkpoint": {…}, "teste": false,
"entrega": {…}, "evento": {…}, "tentativas": [{…}], "pedidos": [], "apagado": null}, "sem_prova": {"gerada_em": "2026-…", …}, "recibos": []};
sem_selo counts the rows that no checkpoint covered yet. confere is
false when something does not fit, and null when all that could be checked fits but motivo tells what could not.`,
  exits: {
    done: 'each row is included under a checkpoint that a given key signed, and all fits',
    refused: 'something does not fit',
    outOfReach: 'a part could not be checked: it is not sealed yet, masked, or no key was given',
  },
  async run({ file, key, checkpoint, tsaCa, witness }, { print }) {
    const text = await readWhole(file);
    const keys = key === undefined ? [] : readKeys(await readFileOr(key), readVerifier, '--key');
    const given = checkpoint === undefined ? null : await readFileOr(checkpoint);
    const kept = given === null ? null : (openCheckpoint(given, keys) ?? openHeader(given.trim(), keys));
    if (given !== null && kept === null)
      throw new UsageError('--checkpoint: is no checkpoint that a key of --key has signed');
    const witnesses = witness === undefined ? [] : readKeys(await readFileOr(witness), readWitnessKey, '--witness');
    const roots = tsaCa === undefined ? null : await readWhole(tsaCa);
    if (roots !== null && !isCertificate(roots)) throw new UsageError(`--tsa-ca: ${NO_CERTIFICATE}`);
    const { fits, reason, unsealed, facts, unproven } = checkProof(text, { keys, checkpoint: kept });
    const recibos = await checkReceipts(text, { keys, roots, witnesses, kept });
    const wrong = recibos.find(({ confere }) => confere === false);
    const confere = wrong === undefined ? fits : false;
    const motivo = wrong === undefined || fits === false ? reason : `the receipt of ${wrong.onde}: ${wrong.motivo}`;
    const fatos = confere === false ? null : facts;
    const aviso = fatos?.teste === true ? TEST : null;
    const apagado = fatos?.apagado ?? null;
    print(JSON.stringify({ confere, motivo, aviso, sem_selo: unsealed, apagado, fatos, sem_prova: unproven, recibos }));
    if (confere === null) return EXIT.outOfReach;
    return confere ? EXIT.done : EXIT.refused;
  },
});

function readKeys(text: string, read: (line: string) => Verifier | null, name: string): Verifier[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const key = read(line);
      if (key === null) throw new UsageError(`${name}: must be a public key, name+hash+base64, or a file of such keys`);
      return key;
    });
}

/** But for what is beyond the length of any proof. */
async function readWhole(file: string): Promise<string> {
  const pieces = await Array.fromAsync(createReadStream(file, { end: MAX_BYTES }) as AsyncIterable<Buffer>).catch(
    (cause: Error) => {
      throw new UsageError(`the file ${file} cannot be read: ${cause.message}`);
    },
  );
  const bytes = Buffer.concat(pieces);
  if (bytes.length <= MAX_BYTES && !isUtf8(bytes)) throw new UsageError(`the file ${file} is no UTF-8`);
  return bytes.toString();
}

/** The file of that name, or the word itself where there is none. */
async function readFileOr(word: string): Promise<string> {
  return readFile(word, 'utf8').catch(() => word);
}
