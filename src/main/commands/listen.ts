import { TIMES_S } from '../../contract/delivery.ts';
import { InvalidArgumentError } from 'commander';
import { delaysText } from '../../contract/schedule.ts';
import { withoutSlash } from '../../settings/environment-rules.ts';
import { readUuid } from '../arguments.ts';
import { command, flag, option, optionOr, orFrom, OutOfReach, Refusal, required, UsageError } from '../command.ts';

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const TOKEN = /^[\w.~+/=-]+$/;
/** 24 to 64 bytes, as Standard Webhooks has it. */
const SECRET = /^whsec_(?=.{32,88}$)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** An `http:` or `https:` URL without what would be sent along unseen. */
function readUrl(text: string): string {
  const isUrl = /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text);
  const url = isUrl ? new URL(text) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '' || url.port === '0') {
    throw new InvalidArgumentError('Give a URL as http://localhost:8080/hook, without user, password and fragment.');
  }
  return url.href;
}

/** This machine, as the URL parser writes it: it makes `127.1` and `0x7f.1` to `127.0.0.1`. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Without the slash at its end. The token goes there, so it is `https:`, or on this machine. */
function readApi(text: string): string {
  const url = readUrl(text);
  if (url.includes('?')) throw new InvalidArgumentError('Give the address alone, without a query.');
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !LOOPBACK.test(hostname)) {
    throw new InvalidArgumentError(
      'It would carry the token in clear: give it as https://, or forward a port of this machine to it and give http://localhost:PORT.',
    );
  }
  return withoutSlash(url);
}

/** An instant, or an age before now. */
function readSince(text: string): Date {
  const [, amount, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  if (amount !== undefined) return new Date(Date.now() - Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]);
  const isInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const instant = new Date(text);
  if (!isInstant || Number.isNaN(instant.getTime())) {
    throw new InvalidArgumentError('Give an age (90s, 15m, 2h, 3d) or an instant (2026-01-31T12:00:00Z).');
  }
  return instant;
}

export const listen = command({
  summary: 'forward deliveries to a machine without a public address, from the feed of events',
  options: {
    forward: required('--forward <url>', 'where each delivery is sent: http://localhost:8080/hook', readUrl),
    api: orFrom('CARTEIRO_API', optionOr('--api <url>', "the API's address", readApi, 'http://127.0.0.1:3000')),
    token: orFrom('CARTEIRO_TOKEN', option('--token <token>', 'with the scope webhooks:read', String)),
    secret: orFrom('CARTEIRO_SECRET', option('--secret <secret>', 'signs; a new one unless it is given', String)),
    webhook: option('--webhook <id>', "only that webhook's event names, with its deliveries' ids", readUuid),
    homologar: flag('--homologar', 'try the receiver with right and wrong POSTs, and tell what to mend; asks no API'),
    since: option('--since <time>', 'begin with what is that old (15m, 2h) or with an instant', readSince),
  },
  help: `
For a receiver that is being written, on a machine that no POST can reach. It needs a token and nothing else: it reads GET
/v1/eventos every second, and sends each event as a delivery, with the headers of a real one. Registrations, deliveries and
attempts are left as they are, and nobody else sees it.

  export CARTEIRO_TOKEN=eyJ…   # in the sandbox: npm run -s cli -- token --partner ID --scope webhooks:read
  npm run -s cli -- listen --forward http://localhost:8080/hook

The API's address is https://, because each request carries the token. http:// is for an API on this machine (localhost,
127.0.0.0/8, ::1).

Signature: by a secret of its own, shown at the start; give it to the receiver. With CARTEIRO_SECRET it is the same in each
run. The secret of a real webhook does not belong here.

What comes: from now on, unless --since says otherwise. It counts from when an event was recorded.
--webhook reads that webhook's event names once, at the start. The partner's tests (webhook.teste) are not in the feed.

X-Webhook-Delivery: the id of the event, or with --webhook that of its delivery, where there is one. It is the same in
each attempt and each run: deduplicate by it.

Retries: any 2xx within ${TIMES_S.response} s is a success. A failure is tried again after 2, 5, 15, 30 and 60 s, then given up. (The real
schedule: ${delaysText().en}.) At most 8 POSTs are under way at once. An API that goes away after the start is
asked again until it answers.

X-Carteiro-Checkpoint: the newest checkpoint of the API, as in a real delivery. Each new one is verified, and told on standard
error: a log that was made anew while this runs is told as that.

--homologar sends some 45 POSTs, right and wrong ones, as POST /v1/webhooks/{id}/homologacao does, signed by CARTEIRO_SECRET, which the
receiver must know. It needs no token, prints a line for each check, and takes a little over a minute. Nothing is kept and
nothing is signed: the report of both sides comes from the API.

  CARTEIRO_SECRET=whsec_… npm run -s cli -- listen --homologar --forward http://localhost:8080/hook

Ctrl-C lets the POSTs under way end. It tells how many deliveries were not finished; --since brings them again. A second Ctrl-C
leaves at once.

Output: a line for each attempt; what else happens goes to standard error`,
  exits: {
    done: 'it was ended by Ctrl-C',
    refused: "the API refuses the token, has no such webhook, or is not Carteiro's; with --homologar, a check failed",
    outOfReach: 'the API does not answer at the start',
  },
  async run({ forward, api, token, secret, webhook, homologar, since = null }, { print }) {
    // Checked here: commander repeats a value that its parser refuses.
    if (secret !== undefined && secret !== '' && !SECRET.test(secret)) {
      throw new UsageError('CARTEIRO_SECRET or --secret must be whsec_ and the base64 of 24 to 64 bytes');
    }
    if (homologar) return homologate(forward, secret ?? '', print);
    if (token === undefined || token === '')
      throw new UsageError('set CARTEIRO_TOKEN to a token with the scope webhooks:read');
    if (!TOKEN.test(token))
      throw new UsageError('CARTEIRO_TOKEN or --token is no token: copy it whole, without Bearer');
    const { runListen } = await import('../../listen/run.ts');
    const { untilStopped } = await import('../service/stop-signals.ts');
    const target = {
      forward,
      api,
      token,
      secret: secret === undefined || secret === '' ? null : secret,
      webhookId: webhook ?? null,
      since,
    } as const;
    const note = (text: string): void => void process.stderr.write(`${text}\n`);
    const failed = await untilStopped((stopping) => runListen(target, { print, note, stopping }));
    if (failed?.kind === 'away') throw new OutOfReach(failed.sentence);
    if (failed !== null) throw new Refusal(failed.sentence);
  },
});

async function homologate(url: string, secret: string, print: (line: string) => void): Promise<void> {
  if (secret === '') throw new UsageError("set CARTEIRO_SECRET to the receiver's secret: whsec_ and base64");
  const { tryReceiver } = await import('../../listen/try-receiver.ts');
  const { untilStopped } = await import('../service/stop-signals.ts');
  const { failed, unmade } = await untilStopped((stopping) => tryReceiver({ url, secret, print, stopping }));
  if (failed > 0) throw new Refusal(`${failed} checks failed`);
  if (unmade > 0) throw new Refusal(`${unmade} checks were not made`);
}
