/**
 * One delivery as evidence: its event, the bytes sent, its attempts, and the seals that cover them. They are read in one
 * snapshot, and can be checked without a database (check-proof.ts).
 */
import { createHash } from 'node:crypto';
import type { Proof, SealResource } from '../../contract/resources/audit-resource.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { digestOfGroup, groupOf, groupsOf, LEAF_BYTES } from '../seals/batch.ts';
import type { Seal } from '../seals/chain.ts';
import { readLastSeal, sealColumns, spanOf } from '../seals/seal.ts';

/** The most seals that a proof holds, about 300 bytes each. */
const MAX_CHAIN = 5_000;

/** The evidence of a delivery; null when no delivery has that id. */
export async function readProof(pool: Pool, deliveryId: string): Promise<Proof | null> {
  return pool.transaction(async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    const delivery = await readDelivery(tx, deliveryId);
    if (delivery === null) return null;
    const event = await readLines(tx, 'events', delivery.eventId);
    const attempts = await readLines(tx, 'attempts', deliveryId);
    const orders = await readOrders(tx, delivery.webhookId, deliveryId);
    const sealed = [...event, ...attempts, ...orders].filter((line) => line.seal !== null);
    const numbers = [...new Set(sealed.map(({ seal }) => seal ?? 0))].toSorted((one, other) => one - other);
    const batches: Proof['lotes'] = [];
    for (const number of numbers) batches.push(await readBatch(tx, number, sealed));
    const chain = numbers.length === 0 ? [] : await readChain(tx, Math.min(...numbers));
    const head = await readLastSeal(tx);
    const view = ({ line, leaf, seal }: SealedLine) => ({ linha: line, folha: leaf.toString('hex'), selo: seal });
    return {
      formato: 'carteiro-prova-1',
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
      corpo_base64: delivery.body.toString('base64'),
      corpo_sha256: createHash('sha256').update(delivery.body).digest('hex'),
      evento: event.map(view)[0] ?? null,
      tentativas: attempts.map(view),
      pedidos: orders.map(view),
      lotes: batches,
      cadeia: chain.map(sealView),
      cadeia_completa: chain.length === 0 || chain.at(-1)?.number === head?.number,
      cabeca: head === null ? null : { numero: head.number, hash: head.hash.toString('hex') },
    };
  });
}

function sealView(seal: Seal): SealResource {
  return {
    numero: seal.number,
    primeira_epoca: seal.firstEpoch,
    primeira_transacao: seal.firstTx,
    epoca_final: seal.endEpoch,
    transacao_final: seal.endTx,
    linhas: seal.rows,
    resumo: seal.digest.toString('hex'),
    anterior: seal.previous.toString('hex'),
    hash: seal.hash.toString('hex'),
    selado_em: seal.sealedAt.toISOString(),
  };
}

interface EvidencedDelivery {
  readonly eventId: string;
  readonly webhookId: string;
  readonly partnerId: string;
  readonly status: Proof['entrega']['status'];
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly body: Buffer;
  readonly now: Date;
}

async function readDelivery(tx: Tx, id: string): Promise<EvidencedDelivery | null> {
  const [row] = await tx<EvidencedDelivery[]>`
    select d.event_id as "eventId", d.webhook_id as "webhookId", d.partner_id as "partnerId", d.status,
           d.created_at as "createdAt", d.finished_at as "finishedAt", m.body, clock_timestamp() as now
    from deliveries d
    join messages m on m.event_id = d.event_id
    where d.id = ${id}`;
  return row ?? null;
}

interface SealedLine {
  readonly line: string;
  readonly leaf: Buffer;
  readonly seal: number | null;
}

/** The lines of a subject in the order of their transactions, each with the seal whose span holds it. */
async function readLines(
  tx: Tx,
  source: 'events' | 'attempts' | 'send_orders',
  subject: string,
): Promise<SealedLine[]> {
  return tx<SealedLine[]>`
    select r.line, r.leaf, case when (s.end_epoch, s.end_tx) > (r.epoch, r.tx) then s.number::float8 end as seal
    from sealable_rows r
    left join lateral (
      select number, end_epoch, end_tx from seals where (first_epoch, first_tx) <= (r.epoch, r.tx)
      order by first_epoch desc, first_tx desc limit 1
    ) s on true
    where r.source = ${source} and r.subject = ${subject}
    order by r.epoch, r.tx, r.line`;
}

/** The orders to send this delivery. An order belongs to a webhook and names its deliveries. */
async function readOrders(tx: Tx, webhookId: string, deliveryId: string): Promise<SealedLine[]> {
  const [row] = await tx<[{ any: boolean }]>`
    select exists (
      select from send_orders where webhook_id = ${webhookId} and ${deliveryId}::uuid = any (delivery_ids)
    ) as any`;
  if (!row.any) return [];
  const lines = await readLines(tx, 'send_orders', webhookId);
  return lines.filter(({ line }) => line.includes(deliveryId));
}

/** A batch's rows as they are now, as groups; the groups that hold one of `lines` come with their leaves. */
async function readBatch(tx: Tx, numero: number, lines: readonly SealedLine[]): Promise<Proof['lotes'][number]> {
  const [seal] = await tx<[Seal]>`select ${sealColumns(tx)} from seals where number = ${numero}`;
  const rows = await tx<{ leaves: Buffer | null }[]>`
    select string_agg(leaf, '') as leaves from sealable_rows where ${spanOf(tx, seal)}`;
  const leaves = rows[0]?.leaves ?? Buffer.alloc(0);
  const groups = groupsOf(leaves);
  const mine = lines.filter(({ seal }) => seal === numero);
  const opened = new Set(mine.map(({ leaf }) => groupOf(leaf, leaves.length / LEAF_BYTES)));
  return {
    numero,
    grupos: groups.map((group) => digestOfGroup(group).toString('hex')),
    abertos: [...opened].map((grupo) => ({ grupo, folhas: leavesIn(groups[grupo] ?? Buffer.alloc(0)) })),
  };
}

function leavesIn(group: Buffer): string[] {
  return Array.from({ length: group.length / LEAF_BYTES }, (_, index) =>
    group.toString('hex', index * LEAF_BYTES, (index + 1) * LEAF_BYTES),
  );
}

async function readChain(tx: Tx, from: number): Promise<Seal[]> {
  return tx<Seal[]>`select ${sealColumns(tx)} from seals where number >= ${from} order by number limit ${MAX_CHAIN}`;
}
