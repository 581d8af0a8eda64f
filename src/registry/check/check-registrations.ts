/** Rules about registrations: one reference has one answer and one effect, however often it is asked. */
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { registrationReported } from '../../contract/registry-wire.ts';
import { retryAfterMs } from '../adapter.ts';
import { shaped } from '../exchange.ts';
import type { Bridge, Timed } from './bridge.ts';
import { errorOf } from './check-margins.ts';
import { Broken, type CheckOptions, type Look, Unseen } from './rule.ts';

const AT_ONCE = 8;

interface Made {
  readonly id: string;
  readonly end: Timed;
}

function registrationsOf(bridge: Bridge, { cpf, cnpj, waitS }: CheckOptions) {
  const bodyOf = (id: string) => ({
    averbacao_id: id,
    emprestimo_id: randomUUIDv7(),
    numero_emprestimo: '2026-00000001',
    cpf_trabalhador: cpf,
    matricula: 'M-1',
    cnpj_empregador: cnpj,
    valor_liberado: 1234.5,
    numero_parcelas: 12,
    valor_parcela: 120.05,
  });
  const read = (id: string) => bridge.ask({ method: 'GET', path: `/averbacoes/${id}` });
  return {
    read,
    bodyOf,
    post: (id: string, body: object = bodyOf(id)) =>
      bridge.ask({ method: 'POST', path: '/averbacoes', body, idempotencyKey: id }),
    ended: async (id: string, first: Timed): Promise<Timed> => {
      const until = performance.now() + waitS * 1_000;
      let answer = first;
      while (answer.status === 202) {
        const pauseMs = retryAfterMs(answer.headers['retry-after']);
        if (performance.now() + pauseMs > until)
          throw new Unseen(`it was still being worked on after ${waitS} s (--wait)`);
        await sleep(pauseMs);
        answer = await read(id);
      }
      return wellFormed(answer);
    },
  };
}

export async function checkRegistrations(bridge: Bridge, look: Look, options: CheckOptions): Promise<void> {
  const { read, post, bodyOf, ended } = registrationsOf(bridge, options);
  let made: Made | null = null;
  await look('GET /averbacoes of one that was never asked answers 404', async () => {
    const { status } = await read(randomUUIDv7());
    if (status !== 404) throw new Broken(`answered ${status}`);
    return 'answered 404';
  });
  await look('POST /averbacoes answers 200 with protocolo_registry, 422 with erro, or 202 until then', async () => {
    const id = randomUUIDv7();
    const first = await post(id);
    const end = await ended(id, first);
    made = { id, end };
    return first.status === 202 ? `answered 202, then ${end.status}` : `answered ${end.status}`;
  });
  const known = (): Made => {
    if (made === null) throw new Unseen('no registration came to an end');
    return made;
  };
  await look('the same averbacao_id gets the same answer again, also for another body', async () => {
    const { id, end } = known();
    same(await post(id), end);
    same(await post(id, { ...bodyOf(id), valor_liberado: 99.99 }), end);
    return 'the same status and body, three times';
  });
  await look('GET /averbacoes tells the same answer', async () => {
    const { id, end } = known();
    same(await read(id), end);
    return 'the same status and body';
  });
  await look(`${AT_ONCE} calls at once with one averbacao_id have one effect`, async () => {
    const id = randomUUIDv7();
    const body = bodyOf(id);
    const first = await Promise.all(Array.from({ length: AT_ONCE }, () => post(id, body)));
    const ends = await Promise.all(first.map((answer) => ended(id, answer)));
    for (const end of ends) same(end, ends[0] as Timed);
    return `one answer, ${ends[0]?.status}`;
  });
  await look('another averbacao_id gets a protocol of its own', async () => {
    const { end } = known();
    const id = randomUUIDv7();
    const other = await ended(id, await post(id));
    if (end.status !== 200 || other.status !== 200) throw new Unseen('not both of two were concluded');
    const [one, another] = [end, other].map((answer) => shaped(answer, registrationReported).protocolo_registry);
    if (one === another) throw new Broken('two registrations have one protocolo_registry');
    return 'two registrations, two protocols';
  });
}

function wellFormed(answer: Timed): Timed {
  if (answer.status === 200) shaped(answer, registrationReported);
  else if (answer.status === 422) errorOf(answer);
  else throw new Broken(`answered ${answer.status}`);
  return answer;
}

function same(answer: Timed, before: Timed): void {
  const [is, was] = [answer, before].map(({ status, body }) => `${status} ${JSON.stringify(body)}`);
  if (is !== was)
    throw new Broken(
      `answered ${answer.status}, ${answer.status === before.status ? 'with another body' : `after ${before.status}`}`,
    );
}
