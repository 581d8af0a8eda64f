#!/usr/bin/env node
/** The command line. Each command loads only what it needs, so that a poller carries no HTTP server and no drizzle. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Config, ConfigError, readConfig, type Use } from './config.ts';
import { DOCUMENT_MODES, ISSUANCE_MODES, type Scope, SCOPES, SIGNING_MODES } from './contract/statuses.ts';
import { MAX_CAP } from './delivery/cap.ts';
import { createLogger, type Logger } from './log-lines.ts';
import { addAudit } from './main/audit.ts';
import type { Role } from './main/fitness.ts';
import { addJobs } from './main/jobs.ts';
import type { NewPartner } from './main/partners.ts';
import { reasonOf } from './main/reason.ts';

function configure(...uses: Use[]): { config: Config; log: Logger } {
  const config = readConfig(process.env, uses);
  return { config, log: createLogger(config.logLevel) };
}

function print(result: string): void {
  process.stdout.write(result.endsWith('\n') ? result : `${result}\n`);
}

async function serve(roles: readonly Role[], isNewcomers = false): Promise<void> {
  const { config, log } = configure('secrets', ...(roles.includes('api') ? (['tokens'] as const) : []));
  const { runUntilStopped } = await import('./main/serve.ts');
  await runUntilStopped(config, roles, log, isNewcomers ? print : null);
  // Everything is closed; a retired pool may still wait for a connection that went silent, and nothing for its answer.
  process.exit();
}

function parseScopes(text: string): Scope[] {
  const scopes = text.split(/\s+/).filter((scope) => scope !== '');
  const unknown = scopes.filter((scope) => !SCOPES.some((known) => known === scope));
  if (scopes.length === 0 || unknown.length > 0) {
    throw new InvalidArgumentError(`Give one or more of: ${SCOPES.join(' ')}.`);
  }
  return scopes as Scope[];
}

const SECONDS = { s: 1, m: 60, h: 3_600 } as const;

function parseTtl(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('Give a number and a unit: 1s, 15m, 1h.');
  return Number(amount) * SECONDS[unit as keyof typeof SECONDS];
}

function parseUuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new InvalidArgumentError('Give a UUID.');
  return text.toLowerCase();
}

function parseCap(text: string): number {
  const cap = Number(text);
  if (!Number.isInteger(cap) || cap < 1 || cap > MAX_CAP) throw new InvalidArgumentError(`Give 1 to ${MAX_CAP}.`);
  return cap;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('Give a port, 0 to 65535.');
  return port;
}

const ADOPT_HELP = `
A database that was restored or copied to another server, or whose transactions went back, waits: /readyz is 503, and nothing
is appended, delivered or sealed, because a copy made for a test must not POST to partners. This command says that it is to
go on from here. First stop whatever still works on the server before. It begins a new epoch, above everything there is;
ends the claims of the past as desconhecido, so that they are sent again; and tells what it cannot know. A promoted standby
needs none of this: it goes on by itself. Needs the rights of migrate.

Output: {"adopted": true, "fault": "copy", "epoch": 2, "endedClaims": 3, "pending": 17, "newestEventAt": "2026-…",
"newestAttemptAt": "2026-…"}; adopted is false when there is nothing to adopt.

Exit code: 0, or 1 when it could not be done; then nothing has changed.`;

const program = new Command('carteiro')
  .description('Partner webhooks that leave with the commit: API, poller and operator commands.')
  .showHelpAfterError('Add --help for what this command takes.')
  .addHelpText(
    'after',
    `
Environment (none is needed for an embedded sandbox; see README, "Configuration"):
  DATABASE_URL       a PostgreSQL 18 server; without it an embedded one is started under DATA_DIR
  DATA_DIR           the embedded server's data and the sandbox's keys (default .data)
  PORT, HOST         where the API listens (3000, 127.0.0.1)
  SANDBOX            true adds /v1/sandbox and the service's own tokens
  LOG_LEVEL          fatal, error, warn, info, debug, trace or silent (info)

Signals (start, api, poll, demo):
  SIGINT (Ctrl-C), SIGTERM, SIGHUP (a closed terminal) and SIGQUIT drain: no new work, what is in flight is finished.
  What follows within 1 s is the same signal. A later one leaves at once, with exit code 1: what is in flight is sent
  again when its lease ends. Either way the last process out stops the embedded server.

Results go to standard output, everything else to standard error.
Run a command with:  npm run -s cli -- <command>`,
  );

program
  .command('start')
  .description('serve API and poller in one process; prints how to go on (this is npm start)')
  .action(() => serve(['api', 'poller'], true));
program
  .command('api')
  .description('serve the API, and ask the registry for registrations')
  .action(() => serve(['api']));
program
  .command('poll')
  .description('deliver: run a poller; start as many as you like, anywhere')
  .action(() => serve(['poller']));

program
  .command('migrate')
  .description('apply pending migrations, then exit; safe to run from several machines at once')
  .action(async () => {
    const { config, log } = configure();
    const { migrateDatabase, openDatabase } = await import('./main/database.ts');
    const database = await openDatabase(config, log);
    try {
      if (!database.isEmbedded) await migrateDatabase(config, database.directUrl, log);
      print('migrated');
    } finally {
      await database.close();
    }
  });

program
  .command('adopt')
  .description('go on from a copy: make the server on which the database finds itself the known one')
  .addHelpText('after', ADOPT_HELP)
  .action(async () => {
    const { config, log } = configure();
    const { adopt } = await import('./main/adopt.ts');
    const { summary, told } = await adopt(config, log);
    print(JSON.stringify(summary));
    process.stderr.write(`${told}\n`);
  });

program
  .command('partner')
  .description('manage partners')
  .command('create')
  .description('create a partner and print it as JSON; the first choice of each option is the default')
  .requiredOption('--name <name>', 'the name, for people')
  .addOption(new Option('--signing <mode>', 'who signs').choices(SIGNING_MODES).default(SIGNING_MODES[0]))
  .addOption(new Option('--documents <mode>', 'how documents come').choices(DOCUMENT_MODES).default(DOCUMENT_MODES[0]))
  .addOption(new Option('--issuance <mode>', 'how loans are issued').choices(ISSUANCE_MODES).default(ISSUANCE_MODES[0]))
  .action(async (options: NewPartner) => {
    const { config, log } = configure();
    const { withJobPool } = await import('./main/job-pool.ts');
    const { createPartner } = await import('./main/partners.ts');
    if (options.name.trim() === '') throw new Error('--name: must not be empty');
    print(JSON.stringify(await withJobPool(config, log, (pool) => pool.run((sql) => createPartner(sql, options)))));
  });

program
  .command('cap')
  .description("set how many of a webhook's deliveries may be in flight at once, over all pollers (8 unless set)")
  .argument('<webhook>', 'its id', parseUuid)
  .argument('<number>', `1 to ${MAX_CAP}`, parseCap)
  .action(async (webhook: string, maxInFlight: number) => {
    const { config, log } = configure();
    const { runSetCap } = await import('./main/set-cap.ts');
    await runSetCap(config, log, webhook, maxInFlight);
    print(JSON.stringify({ webhook, max_in_flight: maxInFlight }));
  });

addJobs(program, { configure, print });
addAudit(program, { configure, print });

program
  .command('token')
  .description("print a token signed with the service's own key; only without JWT_JWKS_URL")
  .option('--partner <id>', "the partner it speaks for; an auditor's and the core's token have none", parseUuid)
  .requiredOption('--scope <scopes>', `space-delimited, of: ${SCOPES.join(' ')}`, parseScopes)
  .addOption(
    new Option('--ttl <time>', 'how long it is valid: 1s, 15m, 1h').argParser(parseTtl).default(SECONDS.h, '1h'),
  )
  .action(async ({ partner, scope, ttl }: { partner?: string; scope: Scope[]; ttl: number }) => {
    const { config } = configure('tokens');
    if (config.jwtJwksUrl !== null) throw new Error('JWT_JWKS_URL is set: tokens come from that issuer, not from here');
    const { openLocalKeys } = await import('./http/keys-local.ts');
    const { dataDir, jwtIssuer: issuer, jwtAudience: audience } = config;
    const keys = await openLocalKeys({ dataDir, issuer, audience });
    print(
      await keys.signToken({ scopes: scope, ttlSeconds: ttl, ...(partner !== undefined && { partnerId: partner }) }),
    );
  });

program
  .command('receive')
  .description('a small receiver for trying things out: prints each delivery it gets and answers 200')
  .option('--port <port>', 'where to listen on 127.0.0.1', parsePort, 4_000)
  .option('--secret <secret>', 'verify each signature with the secret that the registration showed')
  .action(async ({ port, secret }: { port: number; secret?: string }) => {
    const { printDeliveries } = await import('./demo/print-deliveries.ts');
    await printDeliveries({ port, secret: secret ?? null, print });
  });

program
  .command('demo')
  .description('show the whole product at work on free ports in a folder of its own; exits 0 only if all was seen')
  .action(async () => {
    const { demonstrate } = await import('./main/demonstrate.ts');
    process.exitCode = (await demonstrate(print)) ? 0 : 1;
  });

try {
  await program.parseAsync();
} catch (error) {
  const message = error instanceof ConfigError ? error.message : `carteiro: ${reasonOf(error)}`;
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
