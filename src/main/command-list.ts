/**
 * Every command by its first word. Only the file that a call needs is loaded, so that a poller carries no other; help loads all.
 */
import type { Command } from 'commander';
import { addCommand, type CommandLine, type Description, type Group } from './command.ts';

const COMMANDS: Readonly<Record<string, () => Promise<Description | Group>>> = {
  start: async () => (await import('./commands/serve.ts')).start,
  api: async () => (await import('./commands/serve.ts')).api,
  poll: async () => (await import('./commands/serve.ts')).poll,
  migrate: async () => (await import('./commands/installation.ts')).migrate,
  health: async () => (await import('./commands/health.ts')).health,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  adopt: async () => (await import('./commands/installation.ts')).adopt,
  partner: async () => (await import('./commands/partner.ts')).partner,
  webhook: async () => (await import('./commands/webhook.ts')).webhook,
  delivery: async () => (await import('./commands/delivery.ts')).delivery,
  queue: async () => (await import('./commands/queue.ts')).queue,
  worker: async () => (await import('./commands/worker.ts')).worker,
  secrets: async () => (await import('./commands/secrets.ts')).secrets,
  'sync-bonds': async () => (await import('./commands/core.ts')).syncBonds,
  'close-settlement': async () => (await import('./commands/core.ts')).closeSettlement,
  registry: async () => (await import('./commands/registry.ts')).registry,
  import: async () => (await import('./commands/import.ts')).importHistory,
  rebuild: async () => (await import('./commands/core.ts')).rebuild,
  audit: async () => (await import('./commands/audit.ts')).audit,
  checkpoint: async () => (await import('./commands/audit.ts')).checkpoint,
  archive: async () => (await import('./commands/archive.ts')).archive,
  uninstall: async () => (await import('./commands/installation.ts')).uninstall,
  maintain: async () => (await import('./commands/archive.ts')).maintain,
  token: async () => (await import('./commands/token.ts')).token,
  listen: async () => (await import('./commands/listen.ts')).listen,
  receive: async () => (await import('./commands/receive.ts')).receive,
};

/** Adds to `program` the command that `words` call, or all of them where that is not one. */
export async function addCommands(program: Command, line: CommandLine, words: readonly string[]): Promise<void> {
  const [first = '', second = ''] = words;
  const isCall = Object.hasOwn(COMMANDS, first) && !words.includes('--help') && !words.includes('-h');
  for (const [name, load] of Object.entries(COMMANDS)) {
    if (!isCall) addCommand(program, name, await load(), line);
    else if (name === first) addCommand(program, name, await load(), line, second);
  }
}
