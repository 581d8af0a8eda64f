/** What `start`, `api` and `poll` share. */
import type { CommandLine, Exits } from './command.ts';
import type { Role } from './fitness/checks.ts';

export const SERVE_EXITS: Exits = {
  done: 'a signal ended it, and what was in flight is finished and recorded',
  refused: 'the database is not fit for it, a part failed, or a second signal ended it at once',
  outOfReach: 'start alone, which migrates first: the database is out of reach; api and poll wait for it',
};

/** Serves the roles until a signal; `greet` is for a newcomer. */
export async function serve(
  { configure }: CommandLine,
  roles: readonly Role[],
  greet: ((text: string) => void) | null = null,
): Promise<void> {
  const { config, log } = configure('secrets', ...(roles.includes('api') ? (['tokens'] as const) : []));
  const { runUntilStopped } = await import('./service/serve.ts');
  await runUntilStopped(config, roles, log, greet);
  // Everything is closed; a retired pool may still wait for a connection that went silent, and nothing for its answer.
  process.exit();
}
