/** What attempts and orders say of a delivery's status, which no seal covers. */
import type { Proof } from '../../contract/resources/audit-resource.ts';
import { SCHEDULES, SLOTS, slotsOf } from '../../contract/schedule.ts';
import { LOST_IN_ROW_BOOKS_FAILURE } from '../../delivery/queue/lease.ts';
import type { Fields, FieldsOf } from './reach.ts';

export const TEST = 'webhook.teste';

/** Why the status can't follow from the attempts (all up to the last one must be there); null if it can. */
export function wrongStatus(file: Proof, of: FieldsOf): string | null {
  const { inTime, hasArrived, isCancelled, isOrdered, isSpent } = ended(file, of);
  const missing = inTime.findIndex(({ number }, index) => number !== index + 1);
  if (missing >= 0) return `attempt ${missing + 1} is missing`;
  const { status } = file.entrega;
  if (status === 'entregue') return hasArrived ? null : 'the delivery arrived by no attempt';
  if (status === 'erro' && !isCancelled && !isSpent)
    return `the delivery failed ${inTime.length === 0 ? 'without an attempt' : 'although attempts were left'}`;
  const hasArrivedLast = isOrdered ? inTime.at(-1)?.['outcome'] === 'entregue' : hasArrived;
  const isOver = !isOrdered || (status === 'erro' && !isCancelled);
  if (isOver && hasArrivedLast) return 'the delivery arrived, and its status says something else';
  return status !== 'erro' && !isOrdered && isSpent ? 'the delivery failed, and its status says something else' : null;
}

/** Whether the attempts leave only the file's status. A later order to send again may have changed it since. */
export function isStatusProven(file: Proof, of: FieldsOf): boolean {
  const { hasArrived, isOrdered, isSpent } = ended(file, of);
  return !isOrdered && (hasArrived || isSpent);
}

function ended({ evento, tentativas, pedidos }: Proof, of: FieldsOf) {
  const inTime = tentativas
    .map(of)
    .filter(({ late }) => late === false)
    .toSorted((one, other) => Number(one['number']) - Number(other['number']));
  const kinds = pedidos.map((row) => of(row)['kind']);
  const isTest = evento !== null && of(evento)['type'] === TEST;
  return {
    inTime,
    hasArrived: tentativas.some((row) => of(row)['outcome'] === 'entregue'),
    isCancelled: kinds.includes('cancelamento'),
    isOrdered: kinds.some((kind) => kind !== 'teste'),
    isSpent: failuresOf(inTime, isTest) >= (isTest ? slotsOf(SCHEDULES.test) : SLOTS),
  };
}

/** A lost attempt of a test is a failure; of other deliveries so many in a row are one. */
function failuresOf(attempts: readonly Fields[], isTest: boolean): number {
  let [failures, lost] = [0, 0];
  for (const { outcome } of attempts) {
    lost = outcome === 'desconhecido' ? lost + 1 : 0;
    const isSpent = isTest || lost === LOST_IN_ROW_BOOKS_FAILURE;
    if (outcome === 'desconhecido' ? isSpent : outcome !== 'entregue') failures += 1;
    if (isSpent) lost = 0;
  }
  return failures;
}
