/**
 * The check of a proof, from the file alone: each row is led to its seal and each seal to the checkpoint, whose signature is
 * verified, and the rows are held against the delivery, its body and each other.
 *
 * `true` says that each row of the file is included under a checkpoint that one of the given keys has signed. A file with a row
 * that is not sealed yet, or is withheld, is `null`, and never `true`.
 */
import { createHash } from 'node:crypto';
import { ERASED } from '../../contract/erasure.ts';
import { type Proof, proof, type ProvedRow } from '../../contract/resources/audit-resource.ts';
import { type Checkpoint, openCheckpoint } from '../checkpoint/checkpoint.ts';
import type { Verifier } from '../checkpoint/note.ts';
import { type Entry, readEntry } from '../seals/entry.ts';
import { leafHash, rootByInclusion } from '../seals/tree/merkle.ts';

interface CheckedProof {
  /** True: everything was checked and fits. Null: a part could not be checked, which `reason` names; the rest fits. */
  readonly fits: boolean | null;
  /** Null when everything fits. */
  readonly reason: string | null;
  /** Rows that no seal under the checkpoint covered yet when the proof was made. */
  readonly unsealed: number;
  /** By which order the text was erased, and when; null where it was not, or the order could not be checked. */
  readonly erased: Erased | null;
}

interface Erased {
  readonly order: string;
  readonly at: string;
}

export interface Trusted {
  readonly keys: readonly Verifier[];
  /** A checkpoint that was kept elsewhere: the proof must be made under it. */
  readonly checkpoint?: Checkpoint | null;
}

/** Checks the text of a proof's file. */
export function checkProof(text: string, trusted: Trusted): CheckedProof {
  const data = readProofFile(text);
  if (data === null) return { fits: false, reason: 'the file is no proof of this format', unsealed: 0, erased: null };
  const rows = rowsOf(data);
  const unsealed = rows.filter(({ selo }) => data.selos.find(({ numero }) => numero === selo)?.caminho == null).length;
  const head = headOf(data, trusted.keys);
  const wrong = wrongRows(data) ?? wrongErasure(data) ?? wrongBody(data) ?? wrongStatus(data) ?? wrongSeals(data, head);
  if (wrong !== null) return { fits: false, reason: wrong, unsealed, erased: null };
  const open = openPart(data, head, trusted, unsealed);
  const result = open ?? ({ fits: true, reason: null } as const);
  return { ...result, unsealed, erased: result.fits === false ? null : erasedBy(data) };
}

/** Null where the text is no proof of this format. */
export function readProofFile(text: string): Proof | null {
  try {
    return proof.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function rowsOf({ evento, tentativas, pedidos, apagamento }: Proof): ProvedRow[] {
  const erasure = apagamento === null ? [] : [apagamento.pedido, apagamento.pagina];
  return [...(evento === null ? [] : [evento]), ...tentativas, ...pedidos, ...erasure];
}

/** The proof's checkpoint, and whether one of the keys has signed it. */
interface Head {
  readonly checkpoint: Checkpoint;
  readonly isSigned: boolean;
}

function headOf({ checkpoint }: Proof, keys: readonly Verifier[]): Head | null {
  if (checkpoint === null) return null;
  const signed = openCheckpoint(checkpoint, keys);
  if (signed !== null) return { checkpoint: signed, isSigned: true };
  const [origin = '', size = '', root = ''] = checkpoint.split('\n');
  return { checkpoint: { origin, size: Number(size), root: Buffer.from(root, 'base64') }, isSigned: false };
}

/** Why the whole is not proven although nothing in it is wrong; null when it is proven. */
function openPart(data: Proof, head: Head | null, trusted: Trusted, unsealed: number) {
  const kept = trusted.checkpoint ?? null;
  if (kept !== null && head?.checkpoint.size === kept.size && !head.checkpoint.root.equals(kept.root)) {
    return { fits: false, reason: 'the log of the file is not the one whose checkpoint was kept: it forked' };
  }
  const open = (reason: string) => ({ fits: null, reason });
  if (head === null) return open('no checkpoint was signed when the proof was made: ask for it again');
  if (trusted.keys.length === 0) return open('no key was given: give the log’s public key with --key');
  if (!head.isSigned) return { fits: false, reason: 'the checkpoint is not signed by a key that was given' };
  if (data.retido !== null) return open('the proof is masked: ask for it with the scope auditoria:cpf');
  if (unsealed > 0)
    return open('rows are not sealed under the checkpoint yet: ask for the proof again in some minutes');
  if (kept !== null && kept.size !== head.checkpoint.size) {
    return open(
      `the proof is under ${head.checkpoint.size} seals, not ${kept.size}: ask for it with ?tamanho=${kept.size}`,
    );
  }
  return null;
}

/** The entry of a row, which `campos` only repeats; null where it is withheld. */
function entryOf({ entrada }: ProvedRow): Entry | null {
  return entrada === null ? null : readEntry(Buffer.from(entrada, 'base64'));
}

/** The rows must be of this delivery: those of another delivery are sealed just as well. */
function wrongRows(data: Proof): string | null {
  const { entrega, evento, tentativas, pedidos } = data;
  if (evento === null) return 'the event is missing, and with it whatever vouches for the body';
  const isWithheld = (row: ProvedRow) => row.entrada === null && data.retido !== null;
  const unreadable = rowsOf(data).find((row) => !isWithheld(row) && entryOf(row)?.source !== row.tabela);
  if (unreadable !== undefined) return 'an entry is no row of its table';
  const event = fieldsOf(evento);
  if (evento.tabela !== 'events' || event['id'] !== entrega.evento_id) return 'the event is another one';
  if (event['partner_id'] !== entrega.parceiro_id) return 'the event is of another partner';
  const isOfDelivery = (fields: Entry['fields']) =>
    fields['delivery_id'] === entrega.id &&
    fields['event_id'] === entrega.evento_id &&
    fields['webhook_id'] === entrega.webhook_id &&
    fields['partner_id'] === entrega.parceiro_id;
  if (!tentativas.every((row) => row.tabela === 'attempts' && isOfDelivery(fieldsOf(row)))) {
    return 'an attempt is of another delivery, event, webhook or partner';
  }
  const isOrder = (row: ProvedRow) => {
    const { delivery_ids: ids, webhook_id: webhook } = fieldsOf(row);
    return (
      row.tabela === 'send_orders' && Array.isArray(ids) && ids.includes(entrega.id) && webhook === entrega.webhook_id
    );
  };
  return pedidos.every(isOrder) ? null : 'an order is of other deliveries';
}

function fieldsOf(row: ProvedRow): Entry['fields'] {
  return entryOf(row)?.fields ?? row.campos;
}

/** A text that is gone has an order that lists its event; nothing else takes one away. */
function wrongErasure({ sal, corpo, retido, evento, apagamento }: Proof): string | null {
  if (apagamento === null) {
    return sal === null && retido === null ? 'the text was taken away, and no order to erase covers the event' : null;
  }
  const [order, page] = [fieldsOf(apagamento.pedido), fieldsOf(apagamento.pagina)];
  const isOrder = apagamento.pedido.tabela === 'erasure_orders' && apagamento.pagina.tabela === 'erasure_pages';
  const listed = page['event_ids'];
  const isListed = Array.isArray(listed) && evento !== null && listed.includes(fieldsOf(evento)['id']);
  if (!isOrder || page['order_id'] !== order['id'] || !isListed) return 'the order to erase is one of other events';
  return sal === null && corpo === ERASED ? null : 'an erased event has a text';
}

function erasedBy({ apagamento }: Proof): Erased | null {
  if (apagamento === null) return null;
  const { id, ordered_at: at } = fieldsOf(apagamento.pedido);
  return { order: String(id), at: String(at) };
}

function commitmentOf(salt: string, text: string | Buffer): string {
  return createHash('sha256').update(Buffer.from(salt, 'base64')).update(text).digest('hex');
}

/**
 * The body is the one that the event has, and that each attempt sent; a test may send the example of another event. Of an erased one
 * the salted hashes are left, which still say that each attempt sent the event's body.
 */
function wrongBody({ corpo, sal, evento, tentativas, retido }: Proof): string | null {
  if (retido !== null) return null;
  const sent = sal === null ? evento && entryOf(evento)?.fields['commitment'] : commitmentOf(sal, corpo);
  if (evento !== null && entryOf(evento)?.fields['commitment'] !== sent) return 'the sealed event has another body';
  for (const row of tentativas) {
    const fields = entryOf(row)?.fields ?? {};
    const isLost = fields['outcome'] === 'desconhecido';
    if (!isLost && fields['body_digest'] !== sent) return `attempt ${String(fields['number'])} sent another body`;
    const { commitment } = fields;
    const answer =
      row.resposta == null || row.sal == null ? null : commitmentOf(row.sal, Buffer.from(row.resposta, 'base64'));
    if (answer !== null && answer !== commitment) return `attempt ${String(fields['number'])} was answered otherwise`;
    if (answer === null && commitment !== null && sal !== null)
      return `the answer to attempt ${String(fields['number'])} is missing`;
  }
  return null;
}

/** No seal covers the status: it must follow from the attempts, none of which may be missing. */
function wrongStatus({ entrega: { status }, tentativas, pedidos }: Proof): string | null {
  const attempts = tentativas.map((row) => entryOf(row)?.fields ?? row.campos);
  const inTime = attempts
    .filter(({ late }) => late === false)
    .toSorted((one, other) => Number(one['number']) - Number(other['number']));
  const missing = inTime.findIndex(({ number }, index) => number !== index + 1);
  if (missing >= 0) return `attempt ${missing + 1} is missing`;
  const isCancelled = pedidos.some((row) => (entryOf(row)?.fields ?? row.campos)['kind'] === 'cancelamento');
  if (status === 'erro' && inTime.length === 0 && !isCancelled) return 'the delivery failed without an attempt';
  const isSuccess = (fields: Entry['fields'] | undefined) => fields?.['outcome'] === 'entregue';
  if (status === 'entregue') return attempts.some(isSuccess) ? null : 'the delivery arrived by no attempt';
  const isOver = (status === 'erro' && !isCancelled) || pedidos.length === 0;
  return isOver && isSuccess(inTime.at(-1)) ? 'the delivery arrived, and its status says something else' : null;
}

const SEAL = /^carteiro\/selo\/1\n(\d+)\n\d+ \d+ \d+ \d+\n(\d+)\n([A-Za-z0-9+/]{43}=)\n[^\n]+\n$/;

function wrongSeals(data: Proof, head: Head | null): string | null {
  const roots = new Map<number, { rows: number; root: Buffer }>();
  const common = data.selos[0]?.caminho ?? [];
  for (const { numero, entrada, caminho, iguais } of data.selos) {
    const [, number, rows, root = ''] = SEAL.exec(entrada) ?? [];
    if (Number(number) !== numero) return `seal ${numero} is no seal`;
    roots.set(numero, { rows: Number(rows), root: Buffer.from(root, 'base64') });
    if (caminho === null) continue;
    const { size = 0, root: expected } = head?.checkpoint ?? {};
    const path = [...caminho, ...common.slice(Math.max(common.length - iguais, 0))].map(bytesOf);
    const found = rootByInclusion(leafHash(Buffer.from(entrada)), numero - 1, size, path);
    if (expected === undefined || !found?.equals(expected)) return `seal ${numero} does not lead to the checkpoint`;
  }
  for (const { selo, entrada, indice, caminho } of rowsOf(data)) {
    if (selo === null || entrada === null) continue;
    const seal = roots.get(selo);
    if (seal === undefined) return `seal ${selo} is not in the file`;
    const root =
      indice === undefined || caminho === undefined
        ? null
        : rootByInclusion(leafHash(Buffer.from(entrada, 'base64')), indice, seal.rows, caminho.map(bytesOf));
    if (!root?.equals(seal.root)) return `a row does not lead to seal ${selo}: it is not one of those that were sealed`;
  }
  return null;
}

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
