/** `listen --homologar`: the checks of a conformance run, against a receiver that the service cannot reach. */
import { randomUUID } from 'node:crypto';
import { type Judged, KEEPS_MS, runChecks } from '../conformance/run.ts';
import { detailOf, titleOf } from '../conformance/report.ts';
import { createSender } from '../delivery/sending/send.ts';
import { signingKey } from '../delivery/sending/signature.ts';
import { newSecret } from '../webhooks/secrets.ts';

const VERDICTS = { passou: 'pass', falhou: 'FAIL', nao_se_aplica: '-   ' } as const;

interface Tried {
  readonly url: string;
  /** The receiver's `whsec_` and base64. */
  readonly secret: string;
  readonly print: (line: string) => void;
  readonly stopping: AbortSignal;
  /** The silence before the last POST, in ms; default: a minute. */
  readonly idleMs?: number;
}

/** Prints each check as it is judged; returns how many failed, and how many were skipped by stopping. */
export async function tryReceiver({ url, secret, print, stopping, idleMs }: Tried) {
  const sender = createSender({ allowInsecure: true, keepsMs: KEEPS_MS });
  const kit = {
    partnerId: randomUUID(),
    event: 'averbacao.concluida',
    key: signingKey(secret),
    previous: null,
    strange: signingKey(newSecret()),
    now: () => new Date(),
  } as const;
  const judged = await runChecks(kit, {
    send: (post) => sender.send({ url, ...post }),
    monotonicMs: () => performance.now(),
    note: async (one) => print(lineOf(one)),
    stopping,
    ...(idleMs !== undefined && { idleMs }),
  });
  await sender.close();
  const count = (verdict: Judged['verdict']) => judged.filter((one) => one.verdict === verdict).length;
  print(`${count('passou')} passed, ${count('falhou')} failed, ${count('nao_se_aplica')} do not apply`);
  return { failed: count('falhou'), unmade: judged.filter(({ why }) => why === 'parada').length };
}

/** `FAIL  nulo: Takes null`, and below it what was sent, what came, and advice. */
function lineOf(judged: Judged): string {
  const { code, verdict } = judged;
  const line = `${VERDICTS[verdict]}  ${code}: ${titleOf(code).en}`;
  return verdict === 'passou' ? line : `${line}\n      ${detailOf(judged).en.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')}`;
}
