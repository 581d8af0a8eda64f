/** The checks of a conformance run against a URL, with a silence of 200 ms in place of the minute. */
import { type Judged, runChecks } from '../../src/conformance/run.ts';
import { createSender } from '../../src/delivery/sending/send.ts';
import { signingKey } from '../../src/delivery/sending/signature.ts';

export const SECRET = 'whsec_YXNzaW0gc2UgZXNjcmV2ZSB1bSBzZWdyZWRvISEhISE=';
const STRANGE = 'whsec_b3V0cm8gc2VncmVkbyBxdWUgbmFvIMOpIGVzdGU=';
const SILENCE_MS = 200;

export async function checksOf({
  url,
  onSend = () => undefined,
}: {
  url: string;
  onSend?: () => void;
}): Promise<readonly Judged[]> {
  const sender = createSender({ allowInsecure: true, keepsMs: 60_000 });
  const kit = {
    partnerId: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b',
    event: 'desembolso.liquidado',
    key: signingKey(SECRET),
    previous: null,
    strange: signingKey(STRANGE),
    now: () => new Date(),
  } as const;
  const judged = await runChecks(kit, {
    send: (post) => {
      onSend();
      return sender.send({ url, ...post });
    },
    monotonicMs: () => performance.now(),
    idleMs: SILENCE_MS,
    stopping: new AbortController().signal,
    note: async () => undefined,
  });
  await sender.close();
  return judged;
}

export const failed = (judged: readonly Judged[]) =>
  judged.filter(({ verdict }) => verdict === 'falhou').map(({ code }) => code);
