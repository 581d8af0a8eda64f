/**
 * What is sealed: for each table, which columns of a row are its entry, and in which order.
 *
 * An entry is PostgreSQL's binary form of the record: the count of columns as four bytes, then of each column its type's OID,
 * its length (-1 for null) and its bytes, all big-endian. The first column is the table's name. Everybody can read it without
 * knowing the table, and no two rows have the same bytes. A leaf is SHA-256 of a zero byte and the entry (RFC 9162).
 * What may have to be forgotten is in an entry as SHA-256(salt ‖ text) alone: an event's envelope, an attempt's answer.
 * The statements stand here and not in the database, so that a changed view or function changes no entry. We tried JSON lines:
 * three times as expensive for the server as all the rest of sealing.
 */
import type { Tx } from '../../db/pool.ts';

interface Source {
  /** Whom an auditor asks by. */
  readonly subject: string;
  /** In the order of the entry. */
  readonly columns: string;
  /** Of those that are not as the table has them: an expression over its row `t`. */
  readonly made?: Readonly<Record<string, string>>;
}

const envelope = (type: string, data: string) =>
  `convert_to('{"evento":' || to_json(${type})::text
     || ',"timestamp":"' || coalesce(to_char(t.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), t.occurred_at::text) || '"'
     || case t.family when 'leilao' then '' else ',"parceiro_id":"' || t.partner_id || '"' end
     || ',"data":' || case when octet_length((${data})::text) <= 1048576 then (${data})::text else 'null' end || '}', 'UTF8')`;

/** The bytes that are sent for an event; of a test that sends an example, the example's. */
export const BODY = `case when case when t.type = 'webhook.teste' and pg_input_is_valid(t.data::text, 'jsonb')
    then t.data ->> 'exemplo_de' <> '' end
  then ${envelope(`t.data ->> 'exemplo_de'`, `t.data -> 'data'`)}
  else ${envelope('t.type', 't.data')} end`;

export const SOURCES = {
  events: {
    subject: 'id',
    columns: `position id stream version type family partner_id occurred_at actor request_id fan_out imported
      catalog_version loan_version snapshot traceparent commitment tx epoch`,
    made: { commitment: `coalesce(t.commitment, sha256(t.salt || ${BODY}))` },
  },
  attempts: {
    subject: 'delivery_id',
    columns: `delivery_id number late event_id webhook_id partner_id outcome status_code started_at duration_ms url address
      key_id claim error body_digest commitment recorded_at tx epoch`,
    made: { commitment: 'coalesce(t.commitment, sha256(t.salt || t.answer))' },
  },
  webhook_history: {
    subject: 'webhook_id',
    columns: `position webhook_id partner_id url events active change actor reason request_id changed_at takes_effect_at tx
      epoch`,
  },
  partner_history: {
    subject: 'partner_id',
    columns: `position partner_id name active signing documents issuance change actor reason changed_at tx epoch`,
  },
  send_orders: {
    subject: 'webhook_id',
    columns: `position kind webhook_id partner_id delivery_ids actor reason request_id ordered_at tx epoch`,
  },
  erasure_orders: {
    subject: 'id',
    columns: 'position id court_order actor reason events pages ordered_at tx epoch',
  },
  erasure_pages: {
    subject: 'order_id',
    columns: 'position order_id number event_ids remains tx epoch',
  },
  cpf_reads: {
    subject: 'actor',
    columns: 'position actor operation asked request_id read_at tx epoch',
  },
} as const satisfies Record<string, Source>;

export type SourceName = keyof typeof SOURCES;
export const SOURCE_NAMES = Object.keys(SOURCES) as SourceName[];

/** The names of an entry's columns behind the table's name. Transaction and epoch are the last. */
export function columnsOf(source: SourceName): readonly string[] {
  return COLUMNS[source];
}

const COLUMNS = Object.fromEntries(
  SOURCE_NAMES.map((source) => [source, SOURCES[source].columns.split(/\s+/)]),
) as unknown as Readonly<Record<SourceName, readonly string[]>>;

/** The entry of a row `t` of the table, as an expression. */
export function entryOf(source: SourceName): string {
  const { made = {} }: Source = SOURCES[source];
  const columns = columnsOf(source).map((name) => made[name] ?? `t.${name}`);
  return `record_send(row('${source}'::text, ${columns.join(', ')}))`;
}

/** A point in the log: transactions count within their epoch. */
export interface LogPoint {
  readonly epoch: number;
  readonly tx: number;
}

export interface Span {
  readonly from: LogPoint;
  /** Not included. */
  readonly end: LogPoint;
}

/** Which rows lie in a span; the index knows `tx` as a number. */
export function within({ from, end }: Span): string {
  const tx = 'xid8send(t.tx)::bigint';
  const starts = `t.epoch = ${from.epoch} and ${tx} >= ${from.tx}`;
  const ends = `t.epoch = ${end.epoch} and ${tx} < ${end.tx}`;
  if (from.epoch === end.epoch) return `${starts} and ${tx} < ${end.tx}`;
  return `(${starts} or t.epoch > ${from.epoch} and t.epoch < ${end.epoch} or ${ends})`;
}

/** The server returns entries in pieces of this many bytes: cheaper than one piece, and short enough for the driver. */
const PIECE = 131_072;

/** The entries of all rows that `rows` selects, each behind a zero byte and all one behind the other, in any order. */
export async function readEntries(tx: Tx, rows: (source: SourceName) => string | null): Promise<Buffer> {
  const parts = SOURCE_NAMES.flatMap((source) => {
    const chosen = rows(source);
    return chosen === null ? [] : [`select ${entryOf(source)} as entry from ${source} t where ${chosen}`];
  });
  const pieces = await tx.unsafe<{ piece: Buffer }[]>(
    `with entries as materialized (
       select string_agg('\\x00'::bytea || entry, '') as bytes from (${parts.join(' union all ')}) found
     )
     select substring(bytes from n for ${PIECE}) as piece
     from entries, generate_series(1, length(bytes), ${PIECE}) n
     order by n`,
  );
  return Buffer.concat(pieces.map(({ piece }) => piece));
}
