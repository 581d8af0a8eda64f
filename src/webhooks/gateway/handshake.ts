/** CloudEvents webhooks (HTTP 1.1 Web Hooks, section 4): a URL must allow us by `OPTIONS`. We ask for no callback and no rate. */
import type { Result } from '../../contract/refusals.ts';
import type { Sender } from '../../delivery/sending/send.ts';

const ORIGIN = 'WebHook-Request-Origin';
const ALLOWED = 'webhook-allowed-origin';
export const HANDSHAKE_TIMEOUT_MS = 10_000;

export type Handshake = (url: string) => Promise<Result<null, 'noHandshake'>>;

/** `origin` is our own host, as receivers know it. */
export function handshakeBy(sender: Pick<Sender, 'send'>, origin: string): Handshake {
  return async (url) => {
    const request = { url, method: 'OPTIONS' as const, body: Buffer.alloc(0), headers: [ORIGIN, origin] };
    const { outcome, statusCode, error, answer } = await sender.send(request);
    const refuse = (why: string) => ({ refused: { kind: 'noHandshake' as const, why } });
    if (outcome !== 'entregue') return refuse(statusCode === null ? (error ?? outcome) : `respondeu ${statusCode}`);
    const fields = (answer ?? '').split('\n\n', 1)[0]?.split('\n') ?? [];
    const allowed = fields
      .filter((line) => line.startsWith(`${ALLOWED}: `))
      .map((line) => line.slice(ALLOWED.length + 2).trim());
    if (allowed.some((one) => one === '*' || one.toLowerCase() === origin)) return { ok: null };
    return refuse(`respondeu ${statusCode} sem WebHook-Allowed-Origin: ${origin}`);
  };
}
