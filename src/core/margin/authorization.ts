/** The worker's consent to be asked about: each acceptance is an authorization of its own, a stream of one event. */
import type { EventData } from '../../contract/events.ts';
import { append, type Provenance } from '../../log/append.ts';
import { newStream } from '../../log/read.ts';
import type { Transactor } from '../loans/handle-loan.ts';

export type Authorization = EventData<'autorizacao.confirmada'>;

/** The worker accepted, on the web or through a messaging link. */
export async function confirmAuthorization(
  pool: Transactor,
  provenance: Provenance,
  { cpf_trabalhador, origem }: Pick<Authorization, 'cpf_trabalhador' | 'origem'>,
): Promise<Authorization> {
  return pool.transaction(async (tx) => {
    const { id, now } = await newStream(tx);
    const data: Authorization = { autorizacao_id: id, cpf_trabalhador, status: 'confirmada', origem };
    const facts = [{ type: 'autorizacao.confirmada', data } as const];
    await append(tx, { ...provenance, stream: id, expectedVersion: 0, facts, occurredAt: now });
    return data;
  });
}
