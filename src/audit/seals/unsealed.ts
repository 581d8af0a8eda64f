/** Rows that the log does not cover although it should. */
import type { Tx } from '../../db/pool.ts';
import { ofSeal, type VerifyFinding } from './compare-rows.ts';
import { SOURCE_NAMES, type SourceName } from '../../db/sealed-rows.ts';
import type { Seal } from './seal-log.ts';

/** A row is sealed within a minute, unless a transaction that is older stays open. */
const LATE = '10 minutes';

/** When a row was written; the id of an event says it. */
const WRITTEN: Readonly<Record<SourceName, string>> = {
  events: 'uuid_extract_timestamp(t.id)',
  attempts: 't.recorded_at',
  webhook_history: 't.changed_at',
  partner_history: 't.changed_at',
  send_orders: 't.ordered_at',
  erasure_orders: 't.ordered_at',
  erasure_pages: '(select ordered_at from erasure_orders o where o.id = t.order_id)',
  cpf_reads: 't.read_at',
};

/** Rows above the last seal that are older than ten minutes, and rows of epochs that the server has not reached. */
export async function findUnsealed(sql: Tx, last: Seal | null): Promise<VerifyFinding[]> {
  const { epoch, tx } = last?.end ?? { epoch: 0, tx: 0 };
  const found: VerifyFinding[] = [];
  for (const source of SOURCE_NAMES) {
    const [row] = await sql.unsafe<[{ late: number; strange: number }]>(
      `select count(*) filter (where ${WRITTEN[source]} < now() - interval '${LATE}' and t.epoch <= current_epoch())::int as late,
              count(*) filter (where t.epoch > current_epoch())::int as strange
       from ${source} t
       where t.epoch = ${epoch} and xid8send(t.tx)::bigint >= ${tx} or t.epoch > ${epoch}`,
    );
    const tell = (tipo: VerifyFinding['tipo'], count: number, what: string) => {
      if (count > 0) found.push({ ...ofSeal(tipo, null, `${count} rows ${what}`), tabela: source });
    };
    tell('linhas_sem_selo', row.late, `are older than ${LATE} and no seal covers them`);
    tell(
      'epoca_inexistente',
      row.strange,
      'are of an epoch that the server has not reached: they were written by hand',
    );
  }
  return found;
}
