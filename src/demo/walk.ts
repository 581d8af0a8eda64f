/**
 * The demonstration: a loan from issuance to disbursement, with one receiver that works and one that fails twice.
 * Every step is checked; an expected result that does not come makes the demonstration fail.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LOAN_EXAMPLE } from '../contract/loan-example.ts';
import type { LoanResource, RegistrationResource } from '../contract/resources/loan-resource.ts';
import { type Client, createClient } from './client.ts';
import { type Received, startSmallReceiver } from './receiver.ts';
import { table } from './table.ts';

export interface DemoDeps {
  readonly url: string;
  readonly token: string;
  readonly print: (text: string) => void;
  /** The attempt log, as an auditor reads it. */
  readonly readAttempts: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const EVENTS = ['assinatura.concluida', 'averbacao.concluida', 'desembolso.liquidado'] as const;
const WAIT_MS = 15_000;
const FAILURES = 2;

interface Registered {
  readonly id: string;
  readonly secret: string;
}

/** Runs the demonstration; true only if everything was seen. */
export async function walk({ url, token, print, readAttempts }: DemoDeps): Promise<boolean> {
  const seen: Received[] = [];
  const secrets = new Map<string, string>();
  const receiver = await startSmallReceiver({
    port: 0,
    secretOf: (path) => secrets.get(path) ?? null,
    onDelivery(received) {
      seen.push(received);
      const tries = seen.filter(({ delivery }) => delivery === received.delivery).length;
      const status = received.path === '/instavel' && tries <= FAILURES ? 503 : 200;
      const verdict = received.isSignatureValid ? 'signature OK' : 'SIGNATURE WRONG';
      print(
        `   ← ${received.event} at ${received.path}, delivery ${received.delivery}, ${verdict}, answered ${status}`,
      );
      return status;
    },
  });
  const client = createClient(url, token);
  const until = async (what: string, isTrue: () => boolean) => {
    const limit = performance.now() + WAIT_MS;
    while (!isTrue()) {
      if (performance.now() > limit) throw new Error(`waited in vain for ${what}`);
      await sleep(20);
    }
  };
  const register = async (path: string, eventos: readonly string[]) => {
    const registered = await client.call<Registered>('POST', '/v1/webhooks', 201, {
      url: receiver.url + path,
      eventos,
    });
    secrets.set(path, registered.secret);
    print(`   registered ${receiver.url}${path} for ${eventos.join(', ')}`);
  };

  try {
    print('1. Two webhooks: one receiver that works, one that fails twice');
    await register('/confiavel', EVENTS);
    await register('/instavel', ['desembolso.liquidado']);

    print('2. A loan from issuance to disbursement');
    const at = (path: string) => seen.filter((received) => received.path === path);
    await takeLoanThrough(client, print, (count) =>
      until(`delivery ${count}`, () => at('/confiavel').length === count),
    );

    print('3. The failing receiver is retried when its time comes (1 min, then 5 min: the sandbox moves its clock)');
    for (const [index, seconds] of [60, 300].entries()) {
      await until('the failed attempt', () => at('/instavel').length === index + 1);
      await untilRecorded(readAttempts, EVENTS.length + index + 1);
      await client.call('POST', '/v1/sandbox/tempo', 200, { avancar_segundos: seconds });
      print(`   the clock moved on by ${seconds} s`);
    }
    await until('the retry that succeeds', () => at('/instavel').length === FAILURES + 1);

    const attempts = await untilRecorded(readAttempts, EVENTS.length + FAILURES + 1);
    print(`4. The attempt log\n${table(attempts)}`);
    return judge(seen, print);
  } finally {
    receiver.close();
  }
}

async function takeLoanThrough(
  client: Client,
  print: (text: string) => void,
  untilDelivered: (count: number) => Promise<void>,
): Promise<void> {
  const loan = await client.call<LoanResource>('POST', '/v1/emprestimos', 201, LOAN_EXAMPLE, {
    'Idempotency-Key': 'demo-1',
  });
  const path = `/v1/emprestimos/${loan.id}`;
  print(`   issued: ${loan.numero}, status ${loan.status}`);

  await client.call('POST', `/v1/sandbox${path.slice(3)}/assinatura`, 200);
  await untilDelivered(1);
  const asked = await client.call<RegistrationResource>('POST', `${path}/averbacao`, 202);
  print(`   registration asked: ${asked.status}`);
  await untilDelivered(2);
  await client.call('POST', `/v1/sandbox${path.slice(3)}/desembolso`, 200, { resultado: 'liquidado' });
  await untilDelivered(3);

  const final = await client.call<LoanResource>('GET', path, 200);
  print(`   the loan as a partner reads it: ${final.numero}, status ${final.status}, versao ${final.versao}`);
  if (final.status !== 'desembolsada') throw new Error('the loan was not disbursed');
}

/** Reads the attempt log until it has `count` rows: a record follows its POST by some milliseconds. */
async function untilRecorded(readAttempts: DemoDeps['readAttempts'], count: number) {
  const limit = performance.now() + WAIT_MS;
  for (;;) {
    const rows = await readAttempts();
    if (rows.length >= count) return rows;
    if (performance.now() > limit) throw new Error(`only ${rows.length} of ${count} attempts were recorded`);
    await sleep(20);
  }
}

function judge(seen: readonly Received[], print: (text: string) => void): boolean {
  const retried = seen.filter(({ path }) => path === '/instavel');
  const checks: [string, boolean][] = [
    ['each event arrived once at the receiver that works', seen.length - retried.length === EVENTS.length],
    ['every signature was right', seen.every(({ isSignatureValid }) => isSignatureValid === true)],
    ['the failing receiver was tried three times', retried.length === FAILURES + 1],
    ['with one delivery id', new Set(retried.map(({ delivery }) => delivery)).size === 1],
    ['and the same bytes', new Set(retried.map(({ body }) => body.toString('base64'))).size === 1],
  ];
  print(`5. Seen\n${checks.map(([what, held]) => `   ${held ? 'yes' : 'NO '}  ${what}`).join('\n')}`);
  return checks.every(([, held]) => held);
}
