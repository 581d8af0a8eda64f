/** Rows that the log does not cover although it should. */
import type { Pool, Tx } from '../../db/pool.ts';
import { ofSeal, type VerifyFinding } from './compare-rows.ts';
import { SOURCE_NAMES, SOURCES, type SourceName } from '../../db/sealed-rows.ts';
import { coverable, type LogPoint, within } from './rows.ts';
import type { Seal } from './seal-log.ts';

/** A row is sealed within a minute, unless a transaction that is older stays open. */
const LATE = '10 minutes';

/** When a row was written; the id of an event says it. */
const WRITTEN: Readonly<Record<SourceName, string>> = {
  events: 'case when t.imported is not true then uuid_extract_timestamp(t.id) end',
  attempts: 't.recorded_at',
  webhook_history: 't.changed_at',
  partner_history: 't.changed_at',
  send_orders: 't.ordered_at',
  erasure_orders: 't.ordered_at',
  erasure_pages: '(select ordered_at from erasure_orders o where o.id = t.order_id)',
  cpf_reads: 't.read_at',
  archive_acts: 't.done_at',
  system_history: 't.changed_at',
};

/** How far a row's own time may lie outside: a transaction begins before it writes, and servers' clocks differ. */
const SLACK = '1 hour';

/** Rows of these seals, which follow each other, that name a time before the first of them began or after the last was made. */
export async function findUnexpectedTimes(
  sql: Tx,
  seals: readonly Seal[],
  before: Date | null,
): Promise<VerifyFinding[]> {
  const [first, last] = [seals[0], seals.at(-1)];
  if (first === undefined || last === undefined) return [];
  const span = within({ from: first.from, end: last.end });
  const isElsewhere = (source: SourceName) =>
    `${span} and (${WRITTEN[source]} > $2::text::timestamptz + interval '${SLACK}' or ${WRITTEN[source]} < $1::text::timestamptz - interval '${SLACK}')`;
  const found = await findIn(sql, isElsewhere, [before?.toISOString() ?? '-infinity', last.sealedAt.toISOString()]);
  return found.map(({ table, rows, name }) => {
    const detail = `${rows} rows of the seals up to this one name another time than theirs`;
    return ofSeal('hora_fora_do_selo', last.number, detail, table, name);
  });
}

/** The tables with rows `t` that are so: how many, and the name of one. */
async function findIn(sql: Tx, isSo: (source: SourceName) => string, values: string[] = []) {
  const parts = SOURCE_NAMES.map(
    (source) => `
      select '${source}' as "table", count(*)::int as rows, min(${nameOf(source)}) as name from ${source} t
      where ${isSo(source)}`,
  );
  return sql.unsafe<{ table: string; rows: number; name: string | null }[]>(
    `select * from (${parts.join(' union all ')}) found where rows > 0`,
    values,
  );
}

/** The keys that an auditor asks by, without those that only some may read. */
function nameOf(source: SourceName): string {
  const { subject, texts } = SOURCES[source];
  const names = [
    ...((texts as readonly string[]).includes(subject) ? [] : [subject]),
    source === 'attempts' ? 'number' : 'position',
  ];
  return `concat_ws('/', ${names.map((name) => `t.${name}`).join(', ')})`;
}

/** The rows of each table below a point, counted by reading the table from end to end: no index has a say. */
export async function countRows(pool: Pool, end: LogPoint): Promise<ReadonlyMap<SourceName, number>> {
  const counts = SOURCE_NAMES.map(
    (source) => `select '${source}' as "table", count(*)::float8 as rows from ${source} t
                 where ${coverable()} and ${within({ from: { epoch: 0, tx: 0 }, end })}`,
  );
  const rows = await pool.transaction(async (tx) => {
    await tx`select set_config(name, 'off', true)
             from pg_catalog.unnest(array['enable_bitmapscan', 'enable_indexscan', 'enable_indexonlyscan']) way (name)`;
    return tx.unsafe<{ table: SourceName; rows: number }[]>(counts.join(' union all '));
  });
  return new Map(rows.map(({ table, rows: count }) => [table, count]));
}

/** Rows below a seal that no seal read: its index does not know them. A table that an archive changed meanwhile is left out. */
export function findUnread(
  before: ReadonlyMap<SourceName, number>,
  after: ReadonlyMap<SourceName, number>,
  read: ReadonlyMap<SourceName, number>,
): VerifyFinding[] {
  return SOURCE_NAMES.flatMap((source) => {
    const [rows = 0, seen = 0] = [after.get(source), read.get(source)];
    if (rows === seen || before.get(source) !== rows) return [];
    const detalhe = `the table has ${rows} rows that seals should cover, and ${source}_sealable leads to ${seen} of them: reindex it, and verify again`;
    return [ofSeal('linha_fora_dos_selos', null, detalhe, source)];
  });
}

/** Rows that can never be sealed: spans begin at (0, 0) and follow each other, and rows before or beside them are in no span. */
export async function findOutside(sql: Tx): Promise<VerifyFinding[]> {
  const found = await findIn(sql, () => `${coverable()} is not true`);
  return found.map(({ table, rows, name }) => {
    const detail = `${rows} rows are of an epoch or a transaction that no seal can cover`;
    return ofSeal('linha_fora_dos_selos', null, detail, table, name);
  });
}

/** Rows above the last seal that are older than ten minutes, and rows of transactions and epochs that the server has not reached. */
export async function findUnsealed(sql: Tx, last: Seal | null): Promise<VerifyFinding[]> {
  const { epoch, tx } = last?.end ?? { epoch: 0, tx: 0 };
  const found: VerifyFinding[] = [];
  for (const source of SOURCE_NAMES) {
    const [row] = await sql.unsafe<[{ late: number; unexpected: number }]>(
      `select count(*) filter (where ${WRITTEN[source]} < now() - interval '${LATE}' and t.epoch <= current_epoch())::int as late,
              count(*) filter (where t.epoch > current_epoch() or t.epoch = current_epoch()
                                     and t.tx >= pg_snapshot_xmax(pg_current_snapshot()))::int as unexpected
       from ${source} t
       where t.epoch = ${epoch} and xid8send(t.tx)::bigint >= ${tx} or t.epoch > ${epoch}`,
    );
    const report = (tipo: VerifyFinding['tipo'], count: number, what: string) => {
      if (count > 0) found.push(ofSeal(tipo, null, `${count} rows ${what}`, source));
    };
    report('linhas_sem_selo', row.late, `are older than ${LATE} and no seal covers them`);
    report(
      'epoca_inexistente',
      row.unexpected,
      'are of a transaction or an epoch that the server has not reached: they were written by hand',
    );
  }
  return found;
}
