import { setTimeout as sleep } from 'node:timers/promises';
import { newSecret } from '../webhooks/secrets.ts';
import { createFeedApi } from './feed-api.ts';
import { createForwarder } from './forward.ts';
import { type Ending, listen } from './listen.ts';
import { Witness } from './witness.ts';

export interface Target {
  readonly forward: string;
  /** Without a trailing slash. */
  readonly api: string;
  readonly token: string;
  /** Null: a new one is generated and shown. */
  readonly secret: string | null;
  readonly webhookId: string | null;
  /** Null: from now on. */
  readonly since: Date | null;
}

export interface Terminal {
  readonly print: (line: string) => void;
  readonly note: (line: string) => void;
  readonly stopping: AbortSignal;
}

/** The command's run. Returns why it ended by itself, or null. */
export async function runListen(target: Target, { print, note, stopping }: Terminal): Promise<Ending['failed']> {
  const { forward: url, api, token, webhookId, since } = target;
  const secret = target.secret ?? newSecret();
  const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined);
  const ended = new AbortController();
  const witness = new Witness({ api, note, pause, stopping: AbortSignal.any([stopping, ended.signal]) });
  const forwarder = createForwarder({ url, secret, now: () => new Date(), checkpoint: () => witness.header });
  print(`from ${api} to ${url}`);
  print(target.secret === null ? `secret ${secret}` : 'secret: the one that was given');
  const watching = witness.run();
  const { failed, unfinished } = await listen({
    api: createFeedApi(api, token),
    attempt: forwarder.attempt,
    since,
    webhookId,
    print: (line) => print(`${new Date().toTimeString().slice(0, 8)}  ${line}`),
    note,
    pause,
    stopping,
  });
  ended.abort();
  await Promise.all([watching, forwarder.close()]);
  if (unfinished > 0) note(`${unfinished} deliveries were not finished. To have them again: --since`);
  return failed;
}
