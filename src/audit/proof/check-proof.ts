/**
 * The check of a proof, from the file alone. One pass leads from the checkpoint to seals and from those to rows. Only what it
 * reached is a fact, decoded from the sealed bytes; the rest of the file must repeat the facts, or is reported as not proven.
 * `true`: each row of the file is included under a checkpoint that one of the given keys has signed. If a row is withheld or not
 * sealed yet, the result is `null`.
 */
import { createHash } from 'node:crypto';
import { ERASED, NO_DIGEST } from '../../contract/erasure.ts';
import type { Proof, ProvedRow } from '../../contract/resources/audit-resource.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { Verifier } from '../checkpoint/note.ts';
import { type Facts, factsOf, unprovenOf } from './facts.ts';
import { readProofFile } from './proof-file.ts';
import { bytesOf, type Fields, type FieldsOf, reach, type Reached, type Rows } from './reach.ts';
import { wrongStatus } from './status.ts';

export interface CheckedProof {
  /** True: everything was checked and fits. Null: a part could not be checked, which `reason` names; the rest fits. */
  readonly fits: boolean | null;
  readonly reason: string | null;
  /** Rows that no seal under the checkpoint covers. */
  readonly unsealed: number;
  /** What the reached rows say; null if nothing is reached from a checkpoint that a given key signed, or something does not fit. */
  readonly facts: Facts | null;
  /** What the file says beside that, without proof, by its place in the file. */
  readonly unproven: Readonly<Record<string, string | null>>;
}

export interface Trusted {
  readonly keys: readonly Verifier[];
  /** A checkpoint that was kept elsewhere: the proof must be made under it. */
  readonly checkpoint?: Checkpoint | null;
}

export function checkProof(text: string, trusted: Trusted): CheckedProof {
  const read = readProofFile(text);
  if ('reason' in read) return { ...read, unsealed: 0, facts: null, unproven: {} };
  const reached = reach(read.file, read.rows, trusted.keys);
  const verdict = decide(read.file, read.rows, reached, trusted);
  const isShown = verdict.fits !== false && reached.isSigned;
  const unsealed = [...read.rows.keys()].filter(({ selo }) => selo === null || !reached.seals.has(selo)).length;
  return {
    ...verdict,
    unsealed,
    facts: isShown ? factsOf(read.file, reached) : null,
    unproven: unprovenOf(read.file, reached),
  };
}

type Verdict = Pick<CheckedProof, 'fits' | 'reason'>;

// Decides: the lines that may say true.
function decide(file: Proof, rows: Rows, reached: Reached, trusted: Trusted): Verdict {
  const fault = reached.fault ?? faultOf(file, reached, trusted);
  if (fault !== null) return { fits: false, reason: fault };
  const gap = gapOf(file, rows, reached, trusted);
  if (gap !== null) return { fits: null, reason: gap };
  const isWhole = [...rows.keys()].every((row) => reached.rows.has(row));
  return reached.isSigned && isWhole
    ? { fits: true, reason: null }
    : { fits: null, reason: 'not all of it was reached' };
}
// End.

/** What is wrong with the file although each row is where it says. */
function faultOf(file: Proof, reached: Reached, { keys, checkpoint: kept = null }: Trusted): string | null {
  const { head, isSigned, fields } = reached;
  if (head !== null && keys.length > 0 && !isSigned) return 'the checkpoint is not signed by a key that was given';
  if (file.checkpoint !== null && head === null) return 'the checkpoint is none';
  if (kept !== null && head?.size === kept.size && !head.root.equals(kept.root))
    return 'the log of the file is not the one whose checkpoint was kept: it forked';
  const of = (row: ProvedRow) => fields.get(row) ?? {};
  return wrongRows(file, of) ?? wrongErasure(file, of) ?? wrongBody(file, of) ?? wrongStatus(file, of);
}

/** Why the whole is not proven although nothing in it is wrong; null when it is proven. */
function gapOf(file: Proof, rows: Rows, { head, isSigned, seals }: Reached, trusted: Trusted): string | null {
  const kept = trusted.checkpoint ?? null;
  if (head === null) return 'checkpoint: none was signed when the proof was made: ask for it again';
  if (!isSigned) return 'no key was given: give the log’s public key with --key';
  if (file.retido !== null) return 'retido: the proof is masked: ask for it with the scope auditoria:cpf';
  const unsealed = [...rows].find(([{ selo }]) => selo === null || !seals.has(selo));
  if (unsealed !== undefined)
    return `${unsealed[1]}: rows are not sealed under the checkpoint yet (selos): ask for the proof again in some minutes`;
  if (file.tentativas.length + file.pedidos.length === 0)
    return 'entrega.id, entrega.webhook_id: no row names the delivery before its first attempt';
  if (kept !== null && kept.size !== head.size)
    return `the proof is under ${head.size} seals, not ${kept.size}: ask for it with ?tamanho=${kept.size}`;
  return null;
}

/** The rows must be of this delivery, each once and in their order: those of another delivery are sealed just as well. */
function wrongRows({ entrega, evento, tentativas, pedidos, ancoras }: Proof, of: FieldsOf): string | null {
  if (evento === null) return 'the event is missing, and with it whatever vouches for the body';
  const event = of(evento);
  if (evento.tabela !== 'events' || event['id'] !== entrega.evento_id) return 'the event is another one';
  if (event['partner_id'] !== entrega.parceiro_id) return 'the event is of another partner';
  const bornMs = Number.parseInt(entrega.evento_id.replaceAll('-', '').slice(0, 12), 16);
  if (Date.parse(entrega.criada_em) !== bornMs) return 'entrega.criada_em: the event’s id has another time';
  const isOfDelivery = (fields: Fields) =>
    fields['delivery_id'] === entrega.id &&
    fields['event_id'] === entrega.evento_id &&
    fields['webhook_id'] === entrega.webhook_id &&
    fields['partner_id'] === entrega.parceiro_id;
  if (!tentativas.every((row) => row.tabela === 'attempts' && isOfDelivery(of(row))))
    return 'an attempt is of another delivery, event, webhook or partner';
  const isOrder = (row: ProvedRow) => {
    const { delivery_ids: ids, webhook_id: webhook, partner_id: partner } = of(row);
    const isOfWebhook = webhook === entrega.webhook_id && partner === entrega.parceiro_id;
    return row.tabela === 'send_orders' && Array.isArray(ids) && ids.includes(entrega.id) && isOfWebhook;
  };
  if (!pedidos.every(isOrder)) return 'an order is of other deliveries';
  if (![tentativas, pedidos].every((rows) => isInOrder(rows, of))) return 'a row stands twice, or behind a later one';
  const places = new Set(ancoras.map(({ tipo, onde }) => `${tipo} ${onde}`));
  return places.size === ancoras.length ? null : 'a receipt of one place stands twice';
}

/** By transaction, and of one transaction by their bytes. A masked row has no bytes to compare. */
function isInOrder(rows: readonly ProvedRow[], of: FieldsOf): boolean {
  return rows.every((row, index) => {
    const before = rows[index - 1];
    if (before === undefined || before.entrada === null || row.entrada === null) return true;
    const [one, other] = [of(before), of(row)];
    const ordered = Number(one['epoch']) - Number(other['epoch']) || Number(one['tx']) - Number(other['tx']);
    return ordered < 0 || (ordered === 0 && Buffer.compare(bytesOf(before.entrada), bytesOf(row.entrada)) < 0);
  });
}

/** A text that is gone has an order that lists its event; nothing else takes one away. */
function wrongErasure({ sal, corpo, retido, entrega, apagamento }: Proof, of: FieldsOf): string | null {
  if (apagamento === null)
    return sal === null && retido === null ? 'the text was taken away, and no order to erase covers the event' : null;
  const [order, page] = [of(apagamento.pedido), of(apagamento.pagina)];
  const isOrder = apagamento.pedido.tabela === 'erasure_orders' && apagamento.pagina.tabela === 'erasure_pages';
  const listed = page['event_ids'];
  const isListed = Array.isArray(listed) && listed.includes(entrega.evento_id);
  if (!isOrder || page['order_id'] !== order['id'] || !isListed) return 'the order to erase is one of other events';
  return sal === null && corpo === ERASED ? null : 'an erased event has a text';
}

function commitmentOf(salt: string, text: string | Buffer): string {
  return createHash('sha256').update(bytesOf(salt)).update(text).digest('hex');
}

/**
 * The body is the event's, and each attempt sent it; a test may carry another event's example. Of an erased body the salted hashes
 * still say that. Once an event has lost a CPF, attempts behind the order have no digest of the first body.
 */
function wrongBody({ corpo, sal, evento, tentativas, retido, apagamento }: Proof, of: FieldsOf): string | null {
  if (retido !== null || evento === null) return null;
  const sealed = of(evento)['commitment'];
  const sent = sal === null ? sealed : commitmentOf(sal, corpo);
  if (sealed !== sent) return 'the sealed event has another body';
  const orderedAt = apagamento === null ? null : String(of(apagamento.pedido)['ordered_at']);
  for (const row of tentativas) {
    const { number, outcome, body_digest: digest, commitment, recorded_at: at } = of(row);
    const isWhatIsLeft = orderedAt !== null && digest === NO_DIGEST && String(at) > orderedAt;
    if (outcome !== 'desconhecido' && digest !== sent && !isWhatIsLeft)
      return `attempt ${String(number)} sent another body`;
    if (row.resposta == null || row.sal == null) {
      const isGone = row.resposta === null && row.sal === null && (commitment === null || apagamento !== null);
      if (!isGone) return `the answer to attempt ${String(number)} is missing`;
    } else if (commitment !== commitmentOf(row.sal, bytesOf(row.resposta))) {
      return `attempt ${String(number)} was answered otherwise`;
    }
  }
  return null;
}
