/** The exercise of a restoration: the rows that PostgreSQL makes of a month's files must equal them. Nothing is written. */
import type { Row } from '../db/binary-record.ts';
import { asArchived } from '../db/sealed-rows.ts';
import type { Pool } from '../db/pool.ts';
import { LeafList } from '../audit/seals/leaves.ts';
import { framedOf } from '../audit/seals/rows.ts';
import type { MonthAct } from './acts.ts';
import { commitmentOf, withDigests } from './commitments.ts';
import { type Part, readManifest } from './manifest.ts';
import { ArchiveFault } from './archive-fault.ts';
import type { Place } from './place.ts';
import { jsonRow } from './read-table.ts';
import { entryOf } from './table-file.ts';
import { readCommitments, readTable } from './verify-month.ts';

const BATCH = 2_000;

/** How many attempts came back. Throws {@link ArchiveFault} if they are not those of the files. */
export async function tryRestore(pool: Pool, openPlace: (name: string) => Place, act: MonthAct): Promise<number> {
  const place = openPlace(act.place);
  const { partes } = await readManifest(place, act);
  let back = 0;
  for (const part of partes) back += await tryPart(pool, place, part);
  return back;
}

async function tryPart(pool: Pool, place: Place, part: Part): Promise<number> {
  const file = part.arquivos.find(({ tabela }) => tabela === 'attempts');
  if (file === undefined) return 0;
  const commitments = await readCommitments(place, part);
  let back = 0;
  for await (const { oids, rows } of readTable(place, file)) {
    for (let at = 0; at < rows.length; at += BATCH) {
      const batch = withDigests(rows.slice(at, at + BATCH), commitments);
      const [archived, made] = [new LeafList(), new LeafList()];
      for (const row of batch) archived.add(entryOf('attempts', oids, row, commitmentOf('attempts', row)));
      for (const entry of await madeOf(
        pool,
        batch.map((row) => jsonRow('attempts', oids, row)),
      ))
        made.add(entry);
      if (!(await made.finish()).hashes.equals((await archived.finish()).hashes))
        throw new ArchiveFault(`${file.nome}: PostgreSQL makes other rows of it than were sealed`);
      back += batch.length;
    }
  }
  return back;
}

/** The entries of rows that PostgreSQL makes of these, each behind its frame. */
async function madeOf(pool: Pool, rows: readonly Row[]): Promise<Buffer[]> {
  const { entry } = framedOf('attempts', 'whole');
  const found = await pool.run(
    (sql) => sql<{ entry: Buffer }[]>`
      select ${sql.unsafe(entry)} as entry
      from json_populate_recordset(null::attempts, ${JSON.stringify(rows)}::text::json) ${sql.unsafe(asArchived('attempts'))}`,
  );
  return found.map((row) => row.entry);
}
