/** The long-running commands. */
import { command, type CommandLine, type Exits } from '../command.ts';
import type { Role } from '../operations/checks.ts';

const exits: Exits = {
  done: 'a signal ended it, and what was in flight is finished and recorded',
  refused: 'the database is not fit for it, a part failed, or a second signal ended it at once',
  outOfReach: 'start alone, which migrates first: the database is out of reach; api and poll wait for it',
};

export const start = command({
  summary: 'serve API and poller in one process; prints how to go on (this is npm start)',
  help: `
Migrates the database, makes a sandbox partner if there is none, serves the API and delivers. Without DATABASE_URL it
runs an embedded PostgreSQL under DATA_DIR, which the other commands find there, until it ends.`,
  exits,
  run: (_, line) => serve(line, ['api', 'poller'], line.print),
});

export const api = command({
  summary: 'serve the API, and ask the registry for registrations',
  help: `
Answers 503 while the database is away. Needs the rights of carteiro_app. Start as many as you like: one of them projects
and one seals at a time.`,
  exits,
  run: (_, line) => serve(line, ['api']),
});

export const poll = command({
  summary: 'deliver: run a poller; start as many as you like, anywhere',
  help: `
Takes due deliveries, up to POLLER_CAPACITY at a time, POSTs each to its webhook and records what became of it. It waits
for a database that is away. Needs the rights of carteiro_poller.`,
  exits,
  run: (_, line) => serve(line, ['poller']),
});

/** Serves the roles until a signal; `greet` is for a newcomer. */
async function serve(
  { configure }: CommandLine,
  roles: readonly Role[],
  greet: ((text: string) => void) | null = null,
): Promise<void> {
  const { config, log } = configure('secrets', ...(roles.includes('api') ? (['tokens'] as const) : []));
  const { runUntilStopped } = await import('../service/serve.ts');
  await runUntilStopped(config, roles, log, greet);
  // Everything is closed; a retired pool may still wait for a connection that went silent, and nothing for its answer.
  process.exit();
}
