/**
 * What is sealed: for each table, which columns of a row are its entry, and in which order.
 * Invariant: two different rows have different bytes. An entry is PostgreSQL's binary form of the record: the count of columns as four
 * bytes, then of each column its type's OID, its length (-1 for null) and its bytes, all big-endian. The first column is the table's name,
 * so an entry can be read without knowing the table. A leaf is SHA-256 of a zero byte and the entry (RFC 9162). Erasable texts (an event's
 * envelope, an attempt's answer) are in it only as SHA-256(salt ‖ text).
 * Readers of the texts hash by these statements, not by a database function, so a changed function changes no entry. Auditors without that
 * right use views made of them (`sealedViews`). Alternative: JSON lines cost the server three times all the rest of sealing.
 */

interface Source {
  /** By whom an auditor asks. */
  readonly subject: string;
  /** In the order of the entry. */
  readonly columns: string;
  /** What is read beside the table's row `t`, and beside the same row in an archive. */
  readonly beside?: { readonly table: string; readonly archive: string };
  /** Columns unlike the table's: an expression over `t` and `beside`. */
  readonly made?: Readonly<Record<string, string>>;
  /** Texts that may hold a CPF. */
  readonly texts: readonly string[];
  /** Hashes of texts, withheld together with them. */
  readonly hashes?: readonly string[];
  /** Further columns of the auditors' view: an expression over `t` for each name. */
  readonly shown: Readonly<Record<string, string>>;
}

const envelope = (type: string, data: string) =>
  `convert_to('{"evento":' || to_json(${type})::text
     || ',"timestamp":"' || coalesce(to_char(t.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), t.occurred_at::text) || '"'
     || case t.family when 'leilao' then '' else ',"parceiro_id":"' || t.partner_id || '"' end
     || ',"data":' || case when octet_length((${data})::text) <= 1048576 then (${data})::text else 'null' end || '}', 'UTF8')`;

/** The bytes sent for an event; for a test with an example, the example's. */
export const BODY = `case when case when t.type = 'webhook.teste' and pg_input_is_valid(t.data::text, 'jsonb')
    then t.data ->> 'exemplo_de' <> '' end
  then ${envelope(`t.data ->> 'exemplo_de'`, `t.data -> 'data'`)}
  else ${envelope('t.type', 't.data')} end`;

/** Null for a salt of another length: bytes could move between salt and text under the same hash. */
const committed = (text: string) =>
  `case when t.salt is null then t.commitment when octet_length(t.salt) = 16 then sha256(t.salt || ${text}) end`;

export const SOURCES = {
  events: {
    subject: 'id',
    columns: `position id stream version type family partner_id occurred_at actor request_id fan_out imported
      catalog_version loan_version snapshot traceparent commitment tx epoch`,
    made: {
      fan_out: 't.fan_out::integer',
      catalog_version: 't.catalog_version::integer',
      snapshot: 't.snapshot::pg_snapshot',
      commitment: committed(BODY),
    },
    texts: ['actor'],
    hashes: ['commitment'],
    shown: {
      id: 't.id',
      body: `mask(convert_from(${BODY}, 'UTF8'))`,
      is_erased: 't.salt is null',
      remains: `case when t.salt is null then sha256(convert_to(t.data::text, 'UTF8')) end`,
      rest: `sha256('\\x00'::bytea || uuid_send(t.id) || convert_to(erased(t.data)::text, 'UTF8'))`,
    },
  },
  attempts: {
    subject: 'delivery_id',
    columns: `delivery_id number late event_id webhook_id partner_id outcome status_code started_at duration_ms url address
      key_id claim error body_digest commitment recorded_at tx epoch`,
    beside: {
      table: 'left join targets g on g.id = t.target',
      archive: 'cross join (select null as url, null as address, null as key_id) g',
    },
    made: {
      url: 'coalesce(t.url, g.url)',
      address: 'coalesce(t.address, g.address)',
      key_id: 'coalesce(t.key_id, g.key_id)',
      commitment: committed(`convert_to(t.answer, 'UTF8')`),
    },
    texts: ['url', 'error'],
    hashes: ['body_digest', 'commitment'],
    shown: { delivery_id: 't.delivery_id', number: 't.number', event_id: 't.event_id', is_erased: 't.salt is null' },
  },
  webhook_history: {
    subject: 'webhook_id',
    columns: `position webhook_id partner_id url events active change actor reason request_id changed_at takes_effect_at tx
      epoch`,
    texts: ['url', 'actor', 'reason'],
    shown: {},
  },
  partner_history: {
    subject: 'partner_id',
    columns: `position partner_id name active signing documents issuance change actor reason changed_at tx epoch`,
    texts: ['actor', 'reason'],
    shown: {},
  },
  send_orders: {
    subject: 'webhook_id',
    columns: `position kind webhook_id partner_id delivery_ids actor reason request_id ordered_at tx epoch`,
    texts: ['actor', 'reason'],
    shown: { webhook_id: 't.webhook_id', delivery_ids: 't.delivery_ids' },
  },
  erasure_orders: {
    subject: 'id',
    columns: 'position id court_order actor reason events pages ordered_at tx epoch',
    texts: ['actor', 'reason'],
    shown: { id: 't.id' },
  },
  erasure_pages: {
    subject: 'order_id',
    columns: 'position order_id number event_ids remains tx epoch',
    texts: [],
    shown: { order_id: 't.order_id', number: 't.number' },
  },
  cpf_reads: {
    subject: 'actor',
    columns: 'position actor operation asked request_id events read_at tx epoch',
    texts: ['actor'],
    shown: {},
  },
  archive_acts: {
    subject: 'month',
    columns: `position act month first_seal last_seal place manifest deliveries rows actor reason done_at tx epoch`,
    texts: ['actor', 'reason'],
    shown: {},
  },
  system_history: {
    subject: 'name',
    columns: 'position about name value actor changed_at tx epoch',
    texts: [],
    shown: {},
  },
} as const satisfies Record<string, Source>;

export type SourceName = keyof typeof SOURCES;
export const SOURCE_NAMES = Object.keys(SOURCES) as SourceName[];

/** The names of an entry's columns after the table's name; transaction and epoch are the last. */
export function columnsOf(source: SourceName): readonly string[] {
  return COLUMNS[source];
}

const COLUMNS = Object.fromEntries(
  SOURCE_NAMES.map((source) => [source, SOURCES[source].columns.split(/\s+/)]),
) as unknown as Readonly<Record<SourceName, readonly string[]>>;

/** The expression of a column of a row `t`'s entry. */
export function columnOf(source: SourceName, name: string): string {
  const { made = {} }: Source = SOURCES[source];
  return made[name] ?? `t.${name}`;
}

/** The rows `t` of the table, joined with what their entries need. */
export function rowsFor(source: SourceName): string {
  const { beside }: Source = SOURCES[source];
  return `${source} t ${beside?.table ?? ''}`;
}

/** The same for a relation of whole rows, after its expression. */
export function asArchived(source: SourceName): string {
  const { beside }: Source = SOURCES[source];
  return `t ${beside?.archive ?? ''}`;
}

/** The expression of a row `t`'s entry. */
export function entryOf(source: SourceName): string {
  const columns = columnsOf(source).map((name) => columnOf(source, name));
  return `record_send(row('${source}'::text, ${columns.join(', ')}))`;
}

/** The byte before an entry as sealed, or before a leaf and the masked entry of a row with withheld texts. */
export const FRAMES = { whole: 0, withheld: 1 } as const;

/**
 * Views that give auditors without the grant for CPFs each row's entry after a byte of {@link FRAMES}. A row with masked columns comes as
 * its leaf and its masked entry, without the hashes of its texts.
 */
export function sealedViews(): string {
  return SOURCE_NAMES.map((source) => {
    const { texts, hashes = [], shown }: Source = SOURCES[source];
    const masked = columnsOf(source).map((name) => {
      if (hashes.includes(name)) return 'null::bytea';
      return texts.includes(name) ? `mask(${columnOf(source, name)})` : columnOf(source, name);
    });
    const extra = Object.entries(shown).map(([name, expression]) => `, ${expression} as ${name}`);
    return `
      drop view if exists ${source}_as_sealed;
      create view ${source}_as_sealed as
      select t.epoch, t.tx${extra.join('')},
             case when ${texts.map((name) => `reads_the_same(${columnOf(source, name)})`).join(' and ') || 'true'}
                  then '\\x00'::bytea || ${entryOf(source)}
                  else '\\x01'::bytea || sha256('\\x00'::bytea || ${entryOf(source)})
                       || record_send(row('${source}'::text, ${masked.join(', ')})) end as entry
      from ${rowsFor(source)};`;
  }).join('');
}
