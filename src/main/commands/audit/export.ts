import { InvalidArgumentError } from 'commander';
import { randomUUID } from 'node:crypto';
import type { Export } from '../../../audit/export/export.ts';
import type { FormatName } from '../../../audit/export/formats.ts';
import type { Kind } from '../../../audit/lists/kind.ts';
import { addDays, startOfDay } from '../../../contract/calendar.ts';
import { codeOf, PERMISSION_DENIED } from '../../../db/unavailable.ts';
import { readDay, readText, readUuid } from '../../arguments.ts';
import { choiceOr, command, flag, option, Refusal, UsageError } from '../../command.ts';
import { READING, withJobPool } from '../../job-pool.ts';
import { author } from '../../operator.ts';

const EXPORTED = ['tentativas', 'eventos', 'pedidos', 'historico', 'selos'] as const;

function readKind(text: string): (typeof EXPORTED)[number] {
  const kind = EXPORTED.find((name) => name === text);
  if (kind === undefined) throw new InvalidArgumentError(`Give one of ${EXPORTED.join(', ')}.`);
  return kind;
}

/** Where a file that was cut goes on. */
function readPlace(
  { key }: Kind,
  after: string | undefined,
  cut: string | undefined,
  form: RegExp,
): NonNullable<Export['goOn']> | null {
  if (after === undefined && cut === undefined) return null;
  if (after === undefined || cut === undefined) throw new UsageError('--after and --cut go together');
  if (!form.test(cut)) throw new UsageError('--cut: must be an epoch and a transaction, 1-793');
  const place = after.split(',');
  const columns = Object.keys(key);
  if (place.length !== columns.length) throw new UsageError(`--after: must be ${columns.join(',')} of a row`);
  return { after: place, cut };
}

export const exportCommand = command({
  summary: 'write attempts, events, orders, history or seals to a file',
  takes: { kind: { about: EXPORTED.join(', '), read: readKind } },
  options: {
    format: choiceOr<FormatName>('--format <format>', 'of the file', ['csv', 'ndjson']),
    from: option('--from <day>', 'the first day, AAAA-MM-DD', readDay),
    to: option('--to <day>', 'the last day', readDay),
    partner: option('--partner <id>', 'of this partner alone', readUuid),
    bom: flag('--bom', 'begin a CSV with a byte-order mark'),
    manifest: option('--manifest <file>', 'write the manifest to this file', readText),
    after: option('--after <key>', 'go on behind this row: its key, as GET /v1/auditoria has it in depois', readText),
    cut: option('--cut <cut>', 'with --after: the corte of the manifest’s path, where the file ends', readText),
    cpf: flag('--cpf', 'show CPFs; the read is logged, with --author'),
    author,
  },
  help: `
The same files as GET /v1/auditoria/tentativas?formato=csv and its kin make: rows are only added, so a file is one consistent whole and
ends at the transactions that were over when it began. The manifest (rows, SHA-256, newest checkpoint) is signed with
CHECKPOINT_KEY_FILE where the login may read it. CPFs are masked without --cpf, and to a login that lacks the right to see them.
Attempts of removed months come out of the files of their archives.

Output: the file. The place where it ends, --cut of a run that goes on, is written to standard error first.`,
  exits: { done: 'the file is whole' },
  async run({ kind: name, format, from, to, partner, bom, manifest, after, cut, cpf, author: actor }, line) {
    const { Readable } = await import('node:stream');
    const { text } = await import('node:stream/consumers');
    const { pipeline } = await import('node:stream/promises');
    const { writeFile } = await import('node:fs/promises');
    const { logCpfRead } = await import('../../../audit/cpf-reads.ts');
    const { CUT, exportRows, writeManifest } = await import('../../../audit/export/export.ts');
    const { KINDS } = await import('../../../audit/lists/kinds.ts');
    const { readCheckpointKeys } = await import('../../service/checkpoint-keys.ts');
    const kind = KINDS[name];
    const goOn = readPlace(kind, after, cut, CUT);
    if (name === 'selos' && [from, to, partner].some((given) => given !== undefined))
      throw new UsageError('seals are of no day and no partner: leave out --from, --to and --partner');
    const { signers } = await readCheckpointKeys(line.configure().config);
    const given = Object.entries({ formato: format, de: from, ate: to, parceiro_id: partner });
    const asked = Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined));
    const { archiveReads } = await import('../../service/archives.ts');
    const { withReports } = await import('../../service/reports.ts');
    await withJobPool(
      line,
      async (pool, { config, log }) => {
        if (cpf) {
          const read = {
            actor,
            operation: 'audit export',
            asked: `${name} ${JSON.stringify(asked)}`,
            requestId: randomUUID(),
          };
          await logCpfRead(pool, read).catch((error: unknown) => {
            // An auditor's login may not write; what it reads the server logs.
            if (codeOf(error) !== PERMISSION_DENIED) throw error;
          });
        }
        const wanted = {
          kind,
          name,
          format,
          filters: partner === undefined ? {} : { parceiro_id: partner },
          from: from === undefined ? null : startOfDay(from),
          until: to === undefined ? null : startOfDay(addDays(to, 1)),
          seesCpf: cpf,
          asked,
          signers,
          hasMark: bom,
          removed: await archiveReads(config, pool),
        };
        await withReports(config, pool, log, async (reading) => {
          const begun = await exportRows(reading.pool, { ...wanted, goOn }, '');
          if ('refused' in begun) throw new Refusal('--cut: transactions below it are still open');
          const { chunks, headers } = begun.ok;
          const end = new URLSearchParams(headers['X-Carteiro-Manifesto'].slice(1)).get('corte') ?? '';
          process.stderr.write(`the file ends at --cut ${end}\n`);
          const bytes = Readable.from(chunks, { objectMode: true }).map((chunk) => Buffer.from(chunk as string));
          await pipeline(bytes, process.stdout, { end: false });
          if (manifest === undefined) return;
          const told = await writeManifest(reading.pool, wanted, end);
          if ('ok' in told) await writeFile(manifest, `${(await text(Readable.from(told.ok))).trim()}\n`);
        });
      },
      READING,
    );
  },
});
