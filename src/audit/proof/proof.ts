/**
 * One delivery as evidence: its event, the bytes sent, its attempts, and the way from each row to a signed checkpoint, read in one
 * snapshot. check-proof.ts checks it without a database. All hashes are asked for at once: one by one takes half as long again.
 */
import { ERASED } from '../../contract/erasure.ts';
import type { Proof, ProvedRow } from '../../contract/resources/audit-resource.ts';
import { NOT_FOUND, type Refused } from '../../contract/refusals.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { Fragment } from '../../db/sql.ts';
import { asArchived, BODY } from '../../db/sealed-rows.ts';
import { type ArchivedDelivery, archivedRowsOf } from '../../delivery/partner/delivery-rows.ts';
import { readFramed } from '../seals/entry.ts';
import { HASH_BYTES, hashAt, inclusionPath } from '../seals/tree/merkle.ts';
import { framedOf, type LogPoint, type Sight, sightOf } from '../seals/rows.ts';
import { findSeal, readLogHashes, readRowHashes, type Seal, sealEntry, unlessLacking } from '../seals/seal-log.ts';
import { readCheckpoint } from '../checkpoint/stored.ts';
import { maskProof } from './mask-proof.ts';
import { readReceipts } from './receipts.ts';

/** Attempts and orders of a proof that is asked for over HTTP: a resend adds up to seven, and each is looked for in its seal. */
const MAX_REQUESTED = 1_000;

type FromArchive = (id: string) => Promise<ArchivedDelivery | null>;

/**
 * The evidence of a delivery under the checkpoint of `size` seals, or the newest; null when no delivery has that id. A login that
 * may not see CPFs gets {@link maskProof}. `archived` is asked for a delivery that the database lacks.
 */
export async function readProof(
  pool: Pool,
  deliveryId: string,
  size: number | null = null,
  archived: FromArchive = async () => null,
): Promise<Proof | null> {
  const found = await proveBounded(pool, deliveryId, size, archived, Number.MAX_SAFE_INTEGER);
  return found === null || 'refused' in found ? null : found;
}

/** The same; refused where it would hold more than {@link MAX_REQUESTED} attempts and orders. */
export async function requestProof(
  pool: Pool,
  deliveryId: string,
  size: number | null,
  archived: FromArchive = async () => null,
): Promise<Proof | Refused<'notFound' | 'tooManyToProve'>> {
  return (await proveBounded(pool, deliveryId, size, archived, MAX_REQUESTED)) ?? NOT_FOUND;
}

async function proveBounded(pool: Pool, deliveryId: string, size: number | null, archived: FromArchive, most: number) {
  const found = await prove(pool, deliveryId, size, null, most);
  const rows = found === null ? await archived(deliveryId) : null;
  return rows === null ? found : prove(pool, deliveryId, size, rows, most);
}

async function prove(
  pool: Pool,
  deliveryId: string,
  size: number | null,
  archived: ArchivedDelivery | null,
  most: number,
): Promise<Proof | Refused<'tooManyToProve'> | null> {
  return pool.transaction(async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    const sight = await sightOf(tx);
    const delivery = await readDelivery(tx, deliveryId, sight, archived);
    if (delivery === null) return null;
    // Only by the index of deliveries: with a limit or the webhook the planner reads all orders of the webhook.
    const ofDelivery = tx`t.delivery_ids @> array[${deliveryId}::uuid] and t.webhook_id::text = ${delivery.webhookId}`;
    const [{ ordered }] = await tx<[{ ordered: number }]>`
      select count(*)::int as ordered from send_orders t where ${ofDelivery}`;
    if (delivery.attempts + ordered > most) return { refused: { kind: 'tooManyToProve', most } };
    const seals = new Map<number, Seal>();
    const [event, attempts, orders, checkpoint] = await Promise.all([
      readRows(tx, 'events', tx`t.id = ${delivery.eventId}`, seals, sight),
      readRows(tx, 'attempts', tx`t.delivery_id = ${deliveryId}`, seals, sight, archived),
      readRows(tx, 'send_orders', ofDelivery, seals, sight),
      readCheckpoint(tx, size),
    ]);
    const erasure = delivery.isErased ? await readErasure(tx, delivery.eventId, seals, sight) : null;
    const read = readLogHashes(tx);
    const selos: Proof['selos'] = [];
    for (const seal of [...seals.values()].toSorted((one, other) => one.number - other.number)) {
      const isCovered = checkpoint !== null && seal.number <= checkpoint.size;
      const path = isCovered ? await unlessLacking(inclusionPath(read, seal.number - 1, checkpoint.size)) : null;
      const way = besideFirst(path?.map(encode) ?? null, selos[0]?.caminho ?? []);
      selos.push({ numero: seal.number, entrada: sealEntry(seal).toString(), ...way });
    }
    const proof: Proof = {
      formato: 'carteiro-prova-2',
      gerada_em: delivery.now.toISOString(),
      entrega: {
        id: deliveryId,
        evento_id: delivery.eventId,
        webhook_id: delivery.webhookId,
        parceiro_id: delivery.partnerId,
        status: delivery.status,
        criada_em: delivery.createdAt.toISOString(),
        concluida_em: delivery.finishedAt?.toISOString() ?? null,
      },
      corpo: delivery.isErased ? ERASED : delivery.body,
      sal: delivery.salt === null ? null : encode(delivery.salt),
      evento: event[0] ?? null,
      tentativas: attempts,
      pedidos: orders,
      apagamento: erasure,
      selos,
      checkpoint: checkpoint?.note ?? null,
      ancoras: checkpoint === null ? [] : await readReceipts(tx, Math.max(1, ...seals.keys()), checkpoint),
      retido: null,
    };
    return sight === 'whole' ? proof : maskProof(proof);
  });
}

/** The order that took the event's text away, and the page that lists it; null if there is none. */
async function readErasure(
  tx: Tx,
  eventId: string,
  seals: Map<number, Seal>,
  sight: Sight,
): Promise<Proof['apagamento']> {
  const [listed] = await tx<{ orderId: string; number: number }[]>`
    select order_id as "orderId", number from erasure_pages where ${eventId}::uuid = any (event_ids) order by position limit 1`;
  if (listed === undefined) return null;
  const { orderId, number } = listed;
  const [pedido] = await readRows(tx, 'erasure_orders', tx`t.id = ${orderId}`, seals, sight);
  const [pagina] = await readRows(
    tx,
    'erasure_pages',
    tx`t.order_id = ${orderId} and t.number = ${number}`,
    seals,
    sight,
  );
  return pedido === undefined || pagina === undefined ? null : { pedido, pagina };
}

/** The path without what it has in common with the end of the first seal's: of seals near each other, nearly all. */
function besideFirst(path: string[] | null, first: readonly string[]) {
  if (path === null) return { caminho: null, iguais: 0 };
  const others = path.findLastIndex((hash, index) => hash !== first[first.length - path.length + index]);
  return { caminho: path.slice(0, others + 1), iguais: path.length - others - 1 };
}

const encode = (bytes: Buffer): string => bytes.toString('base64');

interface EvidencedDelivery {
  readonly eventId: string;
  readonly webhookId: string;
  readonly partnerId: string;
  readonly status: Proof['entrega']['status'];
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly body: string;
  readonly salt: Buffer | null;
  readonly isErased: boolean;
  readonly attempts: number;
  readonly now: Date;
}

async function readDelivery(
  tx: Tx,
  id: string,
  sight: Sight,
  archived: ArchivedDelivery | null,
): Promise<EvidencedDelivery | null> {
  const [body, salt, isErased] =
    sight === 'whole'
      ? [`convert_from(${BODY}, 'UTF8')`, 't.salt', 't.salt is null']
      : ['t.body', 'null::bytea', 't.is_erased'];
  const [row] = await tx<EvidencedDelivery[]>`
    select d.event_id as "eventId", d.webhook_id as "webhookId", d.partner_id as "partnerId", d.status, d.attempts,
           d.created_at as "createdAt", d.finished_at as "finishedAt", ${tx.unsafe(body)} as body, ${tx.unsafe(salt)} as salt,
           ${tx.unsafe(isErased)} as "isErased", clock_timestamp() as now
    from ${archived === null ? tx`deliveries` : archivedRowsOf(tx, archived).deliveries} d
    join ${tx.unsafe(framedOf('events', sight).from)} on t.id = d.event_id
    where d.id = ${id}`;
  return row ?? null;
}

interface FoundRow extends LogPoint {
  readonly entry: Buffer;
  readonly salt: Buffer | null;
  readonly answer: string | null;
}

type Evidenced = ProvedRow['tabela'];

/** The rows of a table in the order of their transactions, each with its way to its seal; their seals come into `seals`. */
async function readRows(
  tx: Tx,
  source: Evidenced,
  chosen: Fragment,
  seals: Map<number, Seal>,
  sight: Sight,
  archived: ArchivedDelivery | null = null,
): Promise<ProvedRow[]> {
  const { entry, from } = framedOf(source, sight);
  const answered =
    source === 'attempts' && sight === 'whole' ? 't.salt, t.answer' : 'null::bytea as salt, null as answer';
  const read = (framed: string, relation: Fragment) => tx`
    select ${tx.unsafe(framed)} as entry, t.epoch, xid8send(t.tx)::bigint::float8 as tx, ${tx.unsafe(answered)}
    from ${relation} where ${chosen}`;
  const inFiles =
    archived === null
      ? tx``
      : tx`union all ${read(framedOf(source, 'whole').entry, tx`${archivedRowsOf(tx, archived).attempts} ${tx.unsafe(asArchived(source))}`)}`;
  const rows = await tx<FoundRow[]>`${read(entry, tx.unsafe(from))} ${inFiles} order by epoch, tx, 1`;
  return Promise.all(rows.map((row) => proveRow(tx, source, row, seals)));
}

async function proveRow(tx: Tx, source: Evidenced, row: FoundRow, seals: Map<number, Seal>): Promise<ProvedRow> {
  const seal = await findSeal(tx, row);
  const framed = readFramed(row.entry);
  const leaf = framed?.leaf ?? Buffer.alloc(HASH_BYTES);
  const place = seal === null ? null : await unlessLacking(findPlace(tx, seal, leaf));
  if (seal !== null) seals.set(seal.number, seal);
  return {
    tabela: source,
    campos: framed?.entry.fields ?? {},
    entrada: framed?.bytes === null || framed === null ? null : encode(framed.bytes),
    ...(source === 'attempts' && {
      resposta: row.answer === null ? null : encode(Buffer.from(row.answer)),
      sal: row.answer === null || row.salt === null ? null : encode(row.salt),
    }),
    selo: seal?.number ?? null,
    ...place,
  };
}

/** A leaf's place and path in its seal. Leaves are as if random, so it is within eight deviations of its share, or was changed. */
async function findPlace(tx: Tx, seal: Seal, leaf: Buffer): Promise<{ indice: number; caminho: string[] } | null> {
  const expected = Math.floor((leaf.readUInt32BE(0) / 2 ** 32) * seal.rows);
  const reach = Math.ceil(4 * Math.sqrt(seal.rows)) + 8;
  const [from, end] = [Math.max(0, expected - reach), Math.min(seal.rows, expected + reach)];
  const read = await readRowHashes(tx, seal, from, end);
  const near = await read(0, from, end);
  for (let index = 0; index * HASH_BYTES < near.length; index += 1) {
    if (!hashAt(near, index).equals(leaf)) continue;
    const path = await inclusionPath(read, from + index, seal.rows);
    return { indice: from + index, caminho: path.map(encode) };
  }
  return null;
}
