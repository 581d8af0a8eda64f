/** What is delivered: the same webhooks, secrets and bodies for every contender. */
import { createHash } from 'node:crypto';

export const EVENT = 'desembolso.falhou';

/** The path of webhook `index` on the receiver. */
export function pathOf(index: number): string {
  return `/h/${index}`;
}

/** The paths of so many webhooks; what begins with `hang` may be told apart by the receiver. */
export function pathsOf(count: number, prefix = 'h'): string[] {
  return Array.from({ length: count }, (_, index) => `/${prefix}/${index}`);
}

/** The signing secret of the webhook with this path; the receiver checks a sample of the signatures with it. */
export function secretOf(path: string): string {
  return `whsec_${createHash('sha256').update(path).digest('base64')}`;
}

/** The peers' id of webhook `index`. */
export function peerWebhookId(index: number): string {
  return `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;
}

/** The payload of an event. */
export function dataOf(id: string): string {
  return `{"emprestimo_id":"${id}","numero_emprestimo":"2026-00000001","motivo":"conta encerrada"}`;
}

/** The envelope that the engine's append makes, for contenders without one. */
export function bodyOf(id: string): string {
  return `{"evento":"${EVENT}","timestamp":"2026-01-31T12:00:00.000Z","parceiro_id":"${id}","data":${dataOf(id)}}`;
}
