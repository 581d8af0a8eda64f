/** Rules about margins: the answer's shape, a refusal, and the calls that one process may make at once. */
import { randomUUIDv7 } from 'node:crypto';
import { errorReported, marginReported } from '../../contract/registry-wire.ts';
import { shaped } from '../exchange.ts';
import type { Bridge, Timed } from './bridge.ts';
import { Broken, type CheckOptions, type Look, Unseen } from './rule.ts';

type Worker = Pick<CheckOptions, 'cnpj'> & { readonly cpf: string };

function askMargin(bridge: Bridge, { cpf, cnpj }: Worker): Promise<Timed> {
  const body = { consulta_margem_id: randomUUIDv7(), parceiro_id: randomUUIDv7(), cpf, cnpj_empregador: cnpj };
  return bridge.ask({ method: 'POST', path: '/margens', body });
}

export async function checkMargins(bridge: Bridge, look: Look, options: CheckOptions): Promise<void> {
  await look('POST /margens answers 200 with both amounts, or 422 with erro', async () => {
    const answer = await askMargin(bridge, options);
    if (answer.status === 200) shaped(answer, marginReported);
    else if (answer.status === 422) errorOf(answer);
    else throw new Broken(`answered ${answer.status}; use --cpf and --cnpj to name a worker that it knows`);
    return `answered ${answer.status}`;
  });
  await look('POST /margens of a refused worker answers 422 with erro', async () => {
    const { refusedCpf } = options;
    if (refusedCpf === null) throw new Unseen('name a worker that it refuses with --refused-cpf');
    const answer = await askMargin(bridge, { ...options, cpf: refusedCpf });
    if (answer.status !== 422) throw new Broken(`answered ${answer.status}`);
    return `answered 422, ${errorOf(answer)} characters of erro`;
  });
}

/** The length of the `erro` of a 422. */
export function errorOf(answer: Timed): number {
  const { erro } = shaped(answer, errorReported);
  if (erro.trim() === '') throw new Broken('422 with an empty erro, which the partner is shown');
  if (erro.length > 500) throw new Broken(`422 with an erro of ${erro.length} characters; the partner is shown 500`);
  return erro.length;
}

export async function checkSlowness(bridge: Bridge, look: Look, options: CheckOptions): Promise<void> {
  const { concurrency, timeoutS } = bridge;
  await look(`${concurrency} margins at once are each answered within ${timeoutS} s`, async () => {
    const all = await Promise.all(Array.from({ length: concurrency }, () => askMargin(bridge, options)));
    const unanswered = all.filter(({ status }) => status !== 200 && status !== 422);
    if (unanswered.length > 0) throw new Broken(`${unanswered.length} of them were answered ${unanswered[0]?.status}`);
    const slowest = Math.max(...all.map(({ tookMs }) => tookMs));
    return `the slowest took ${Math.ceil(slowest)} ms`;
  });
}
