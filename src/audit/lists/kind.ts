import type { z } from 'zod';
import type { AuditorsView } from '../../db/auditors-views.ts';
import { FIRST_ID, LAST_ID } from '../../db/first-id.ts';
import type { Tx } from '../../db/pool.ts';
import type { Fragment } from '../../db/sql.ts';
import type { ArchivedDelivery, DeliveryRows } from '../../delivery/partner/delivery-rows.ts';

/** The types of key columns, with the bounds of a walk that has none. */
export const KEY_TYPES = {
  timestamptz: ['-infinity', 'infinity'],
  uuid: [FIRST_ID, LAST_ID],
  bigint: ['0', String(2n ** 63n - 1n)],
  int: ['0', String(2 ** 31 - 1)],
  text: ['', '~'],
  boolean: ['false', 'true'],
} as const;
export type KeyType = keyof typeof KEY_TYPES;

/** A question to the files of a table: rows between two places, as `placeOf` has them, with these values in these columns. */
export interface Range {
  readonly from: string;
  readonly below: string;
  readonly isNewestFirst: boolean;
  readonly most: number;
  /** Ids in hexadecimal. */
  readonly having: Readonly<Record<string, string>>;
}

export interface Removed {
  readonly delivery: (id: string) => Promise<ArchivedDelivery | null>;
  /** All deliveries of an event, or of a stream's events. */
  readonly deliveriesOf: (column: 'id' | 'stream', value: string) => Promise<ArchivedDelivery | null>;
  /** Null if there is none. Rows from `stoppedAt` on were not searched; null: all were. */
  readonly between: (
    table: 'attempts' | 'deliveries',
    range: Range,
  ) => Promise<{ readonly rows: ArchivedDelivery; readonly stoppedAt: string | null } | null>;
}

export interface Cut {
  readonly epoch: number;
  readonly tx: string;
}

export interface Kind {
  /** The view of `carteiro_auditoria` that shows the same rows to SQL. */
  readonly view: AuditorsView;
  /** A row of an answer. Its names are columns of the view. */
  readonly schema: z.ZodObject;
  /** The columns that order the rows. */
  readonly key: Readonly<Record<string, KeyType>>;
  /** Columns of text in which a CPF may stand. */
  readonly masked: readonly string[];
  /** Filters that name few rows, each with how they are found; null: by the column itself. */
  readonly few?: Readonly<Record<string, ((sql: Tx, value: string, rows: DeliveryRows) => Fragment) | null>>;
  /** Filters that ask something else of a row than that the column of their name has the value. */
  readonly fits?: Readonly<Record<string, (sql: Tx, value: string) => Fragment>>;
  /** The column in whose index rows are walked, for these filters; undefined: the key's own. */
  readonly walk?: (sql: Tx, filters: Filters) => Walk | undefined;
  /** Of rows that leave the database with their month: their table, the column of each filter, and the filters that name single rows. */
  readonly removed?: {
    readonly table: 'attempts' | 'deliveries';
    readonly columns: Readonly<Record<string, string>>;
    readonly named: Readonly<Record<string, (removed: Removed, value: string) => Promise<ArchivedDelivery | null>>>;
  };
  /** Which rows an export that ends at a cut has, and where one that begins now ends. Without it, the kind is not exported. */
  readonly cut?: { readonly within: (sql: Tx, cut: Cut) => Fragment; readonly now: (sql: Tx) => Promise<Cut> };
}

export interface Walk {
  readonly column: string;
  /** Found by a subquery, so that no estimate depends on it. */
  readonly value: Fragment;
  readonly where?: Fragment;
  /** The filter that it answers whole. */
  readonly answers?: string;
}

/** Values by column. */
export type Filters = Readonly<Record<string, string>>;

export function columnsOf({ schema }: Kind): string[] {
  return Object.keys(schema.shape);
}
