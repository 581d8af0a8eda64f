/**
 * The check of a proof, from the file alone: every digest and every link is computed again. For a masked proof the links are
 * computed, and its rows are checked against each other; whether they are the sealed rows stays open.
 *
 * The check shows that the rows and the bytes are those of the batches, and the batches those of the chain up to the file's
 * head. A head that was stored elsewhere, given beside the file, shows that this chain is the one that was kept.
 */
import { createHash } from 'node:crypto';
import {
  type MaskedProof,
  maskedProof,
  type Proof,
  proof,
  type SealResource,
} from '../../contract/resources/audit-resource.ts';
import { digestOfGroup, digestOfGroups, groupCount, groupOf } from '../seals/batch.ts';
import { brokenLink, type Head, type Seal } from '../seals/chain.ts';
import { leafOf } from '../seals/leaf.ts';

export interface CheckedProof {
  /** True: everything was checked and fits. Null: a part could not be checked, which `reason` names; the rest fits. */
  readonly fits: boolean | null;
  /** Null when everything fits. */
  readonly reason: string | null;
  /** Lines that no seal covered yet when the proof was made. */
  readonly unsealed: number;
}

/** Checks the text of a proof's file, against an anchored head if there is one. */
export function checkProof(text: string, anchor: Head | null): CheckedProof {
  const content = parse(text);
  const [whole, hidden] = [proof.safeParse(content), maskedProof.safeParse(content)];
  if (whole.success) return verdict(whole.data, wrongProof(whole.data, anchor), null);
  if (hidden.success) return verdict(hidden.data, wrongMasked(hidden.data, anchor), MASKED);
  return { fits: false, reason: 'the file is no proof of this format', unsealed: 0 };
}

const MASKED =
  'the evidence is masked: its seals and its status fit, and whether its rows and its body are the sealed ones was not ' +
  'checked; ask for it with the scope auditoria:cpf';

function verdict(data: Proof | MaskedProof, wrong: string | null, open: string | null): CheckedProof {
  const unsealed = linesOf(data).filter(({ selo }) => selo === null).length;
  return { fits: wrong !== null ? false : open === null ? true : null, reason: wrong ?? open, unsealed };
}

function wrongProof(data: Proof, anchor: Head | null): string | null {
  return (
    wrongBody(data) ??
    wrongLines(data) ??
    wrongBatches(data) ??
    wrongChain(data) ??
    wrongAnchor(data, anchor) ??
    wrongStatus(data) ??
    missingEvent(data)
  );
}

function wrongMasked(data: MaskedProof, anchor: Head | null): string | null {
  const seals = new Set(data.cadeia.map(({ numero }) => numero));
  const missing = linesOf(data).find(({ selo }) => selo !== null && !seals.has(selo));
  if (missing !== undefined) return `seal ${missing.selo} is not in the chain`;
  return (
    wrongEvent(data) ??
    wrongAttempt(data) ??
    wrongOrder(data) ??
    wrongChain(data) ??
    wrongAnchor(data, anchor) ??
    wrongStatus(data) ??
    missingEvent(data)
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Line = Pick<Proof['tentativas'][number], 'linha' | 'selo'>;

function linesOf<L extends Line>({
  evento,
  tentativas,
  pedidos,
}: {
  readonly evento: L | null;
  readonly tentativas: readonly L[];
  readonly pedidos: readonly L[];
}): L[] {
  return [...(evento === null ? [] : [evento]), ...tentativas, ...pedidos];
}

function wrongBody({ corpo_base64: body, corpo_sha256: digest }: Proof): string | null {
  const computed = createHash('sha256').update(Buffer.from(body, 'base64')).digest('hex');
  return computed === digest ? null : 'the body does not have the digest that the file tells';
}

/** An event's line, which is a JSON array with a fixed order (drizzle/, `sealable_rows`). */
const EVENT = { table: 0, id: 2, partner: 7, message: 13 } as const;
const ATTEMPT = { table: 0, delivery: 1, number: 2, late: 3, webhook: 4, partner: 5, outcome: 6 } as const;
const ORDER = { table: 0, kind: 2, webhook: 3, deliveries: 5 } as const;

/** The lines must be of this delivery: those of another delivery are sealed just as well. */
function wrongLines(data: Proof): string | null {
  for (const { linha, folha } of linesOf(data)) {
    if (leafOf(linha)?.toString('hex') !== folha) return 'a line does not have the leaf that the file tells';
  }
  return wrongEvent(data) ?? wrongAttempt(data) ?? wrongOrder(data);
}

function wrongEvent({ entrega, evento, ...body }: Proof | MaskedProof): string | null {
  if (evento !== null) {
    const fields = fieldsOf(evento);
    const [sent] = (fields[EVENT.message] ?? []) as unknown[];
    if (fields[EVENT.table] !== 'events' || fields[EVENT.id] !== entrega.evento_id) return 'the event is another one';
    if (fields[EVENT.partner] !== entrega.parceiro_id) return 'the event is of another partner';
    if ('corpo_sha256' in body && sent !== body.corpo_sha256) return 'the sealed event was sent with another body';
  }
  return null;
}

function fieldsOf({ linha }: Line): readonly unknown[] {
  const fields = parse(linha);
  return Array.isArray(fields) ? fields : [];
}

function missingEvent({ evento }: Proof | MaskedProof): string | null {
  return evento === null ? 'the event is missing, and with it whatever vouches for the body' : null;
}

function wrongAttempt({ entrega, tentativas }: Proof | MaskedProof): string | null {
  for (const attempt of tentativas) {
    const fields = fieldsOf(attempt);
    const isOfDelivery = fields[ATTEMPT.table] === 'attempts' && fields[ATTEMPT.delivery] === entrega.id;
    if (!isOfDelivery) return 'an attempt is of another delivery';
    if (fields[ATTEMPT.webhook] !== entrega.webhook_id || fields[ATTEMPT.partner] !== entrega.parceiro_id) {
      return 'an attempt is of another webhook';
    }
  }
  return null;
}

function wrongOrder({ entrega, pedidos }: Proof | MaskedProof): string | null {
  for (const order of pedidos) {
    const fields = fieldsOf(order);
    const deliveries = fields[ORDER.deliveries];
    const isOfDelivery = Array.isArray(deliveries) && deliveries.includes(entrega.id);
    if (fields[ORDER.table] !== 'send_orders' || !isOfDelivery) return 'an order is of other deliveries';
    if (fields[ORDER.webhook] !== entrega.webhook_id) return 'an order is of another webhook';
  }
  return null;
}

/** No seal covers the status: it must follow from the attempts, none of which may be missing. */
function wrongStatus({ entrega: { status }, tentativas, pedidos }: Proof | MaskedProof): string | null {
  const attempts = (tentativas as readonly Line[]).map(fieldsOf);
  const inTime = attempts
    .filter((fields) => fields[ATTEMPT.late] === false)
    .toSorted((one, other) => Number(one[ATTEMPT.number]) - Number(other[ATTEMPT.number]));
  const missing = inTime.findIndex((fields, index) => fields[ATTEMPT.number] !== index + 1);
  if (missing >= 0) return `attempt ${missing + 1} is missing`;
  const isCancelled = (pedidos as readonly Line[]).some((order) => fieldsOf(order)[ORDER.kind] === 'cancelamento');
  if (status === 'erro' && inTime.length === 0 && !isCancelled) return 'the delivery failed without an attempt';
  const isSuccess = (fields: readonly unknown[] | undefined) => fields?.[ATTEMPT.outcome] === 'entregue';
  if (status === 'entregue') return attempts.some(isSuccess) ? null : 'the delivery arrived by no attempt';
  const isOver = (status === 'erro' && !isCancelled) || pedidos.length === 0;
  return isOver && isSuccess(inTime.at(-1)) ? 'the delivery arrived, and its status says something else' : null;
}

function wrongBatches(data: Proof): string | null {
  const batches = new Map(data.lotes.map((batch) => [batch.numero, batch]));
  const seals = new Map(data.cadeia.map((seal) => [seal.numero, seal]));
  for (const { folha, selo } of linesOf(data)) {
    if (selo === null) continue;
    const group = groupOf(bytesOf(folha), seals.get(selo)?.linhas ?? 0);
    const opened = batches.get(selo)?.abertos.find(({ grupo }) => grupo === group);
    if (!opened?.folhas.includes(folha)) return `a line is not among the leaves of seal ${selo}`;
  }
  for (const { numero, grupos, abertos } of data.lotes) {
    const seal = seals.get(numero);
    if (seal === undefined) return `seal ${numero} is not in the chain`;
    const isOfSeal =
      grupos.length === groupCount(seal.linhas) &&
      digestOfGroups(grupos.map(bytesOf)).toString('hex') === seal.resumo &&
      abertos.every(
        ({ grupo, folhas }) => digestOfGroup(Buffer.concat(folhas.map(bytesOf))).toString('hex') === grupos[grupo],
      );
    if (!isOfSeal) return `the leaves are not those of seal ${numero}`;
  }
  return null;
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

/** Checks each seal's own hash and, from the second on, its link to the seal before. */
function wrongChain({ cadeia, cabeca, cadeia_completa: isWhole }: Proof | MaskedProof): string | null {
  const seals = cadeia.map(sealOf);
  for (const [index, seal] of seals.entries()) {
    const before = seals[index - 1] ?? (seal.number === 1 ? null : beforeOf(seal));
    const reason = brokenLink(before, seal);
    if (reason !== null) return `seal ${seal.number}: ${reason}`;
  }
  const last = cadeia.at(-1);
  const isHead = last === undefined || (last.numero === cabeca?.numero && last.hash === cabeca.hash);
  return isHead || !isWhole ? null : 'the chain does not end at the head that the file tells';
}

function wrongAnchor({ cadeia, cabeca }: Proof | MaskedProof, anchor: Head | null): string | null {
  if (anchor === null) return null;
  const seal = cadeia.find(({ numero }) => numero === anchor.number);
  if (seal === undefined) {
    const isOlder = (cadeia[0]?.numero ?? 0) > anchor.number;
    if (isOlder) return 'the anchored head is older than the delivery’s seals: anchor a newer one';
    return `the chain of the file does not reach the anchored head; it ends at seal ${cabeca?.numero ?? 0}`;
  }
  return seal.hash === anchor.hash.toString('hex') ? null : `seal ${seal.numero} does not have the anchored hash`;
}

function beforeOf(seal: Seal): Seal {
  return { ...seal, number: seal.number - 1, endEpoch: seal.firstEpoch, endTx: seal.firstTx, hash: seal.previous };
}

function sealOf(seal: SealResource): Seal {
  return {
    number: seal.numero,
    firstEpoch: seal.primeira_epoca,
    firstTx: seal.primeira_transacao,
    endEpoch: seal.epoca_final,
    endTx: seal.transacao_final,
    rows: seal.linhas,
    digest: Buffer.from(seal.resumo, 'hex'),
    previous: Buffer.from(seal.anterior, 'hex'),
    hash: Buffer.from(seal.hash, 'hex'),
    sealedAt: new Date(seal.selado_em),
  };
}
