/**
 * Every command by its name. Only the description that a call needs is loaded, so that a poller carries no other; help loads all.
 */
import type { Command } from 'commander';
import { addCommand } from './add-command.ts';
import type { CommandLine, Description } from './command.ts';

type Load = () => Promise<Description>;

const COMMANDS: Readonly<Record<string, Load>> = {
  start: async () => (await import('./commands/serve.ts')).start,
  api: async () => (await import('./commands/serve.ts')).api,
  poll: async () => (await import('./commands/serve.ts')).poll,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  health: async () => (await import('./commands/health.ts')).health,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  adopt: async () => (await import('./commands/adopt.ts')).adopt,
  'partner create': async () => (await import('./commands/partner/create.ts')).create,
  'partner list': async () => (await import('./commands/partner/list.ts')).list,
  'partner show': async () => (await import('./commands/partner/show.ts')).show,
  'partner set': async () => (await import('./commands/partner/set.ts')).set,
  'partner deactivate': async () => (await import('./commands/partner/deactivate.ts')).deactivate,
  'partner reactivate': async () => (await import('./commands/partner/reactivate.ts')).reactivate,
  'webhook list': async () => (await import('./commands/webhook/list.ts')).list,
  'webhook show': async () => (await import('./commands/webhook/show.ts')).show,
  'webhook mute': async () => (await import('./commands/webhook/mute.ts')).mute,
  'webhook unmute': async () => (await import('./commands/webhook/unmute.ts')).unmute,
  'webhook cap': async () => (await import('./commands/webhook/cap.ts')).cap,
  'delivery show': async () => (await import('./commands/delivery/show.ts')).show,
  'delivery resend': async () => (await import('./commands/delivery/resend.ts')).resend,
  'delivery cancel': async () => (await import('./commands/delivery/cancel.ts')).cancel,
  'queue status': async () => (await import('./commands/queue/status.ts')).status,
  'queue explain': async () => (await import('./commands/queue/explain.ts')).explain,
  'queue worst': async () => (await import('./commands/queue/worst.ts')).worst,
  'worker show': async () => (await import('./commands/worker/show.ts')).show,
  'worker erase': async () => (await import('./commands/worker/erase.ts')).erase,
  'secrets replace': async () => (await import('./commands/secrets/replace.ts')).replace,
  'secrets reseal': async () => (await import('./commands/secrets/reseal.ts')).reseal,
  'sync-bonds': async () => (await import('./commands/sync-bonds.ts')).syncBonds,
  'close-settlement': async () => (await import('./commands/close-settlement.ts')).closeSettlement,
  'registry serve': async () => (await import('./commands/registry/serve.ts')).serve,
  'registry check': async () => (await import('./commands/registry/check.ts')).check,
  import: async () => (await import('./commands/import.ts')).importHistory,
  rebuild: async () => (await import('./commands/rebuild.ts')).rebuild,
  'audit seal': async () => (await import('./commands/audit/seal.ts')).seal,
  'checkpoint key': async () => (await import('./commands/checkpoint/key.ts')).key,
  'audit verify': async () => (await import('./commands/audit/verify.ts')).verify,
  'audit head': async () => (await import('./commands/audit/head.ts')).head,
  'audit drill': async () => (await import('./commands/audit/drill.ts')).drill,
  'audit report': async () => (await import('./commands/audit/report.ts')).report,
  'audit anchor': async () => (await import('./commands/audit/anchor.ts')).anchor,
  'audit balance': async () => (await import('./commands/audit/balance.ts')).balance,
  'audit proof': async () => (await import('./commands/audit/proof.ts')).proof,
  'audit check': async () => (await import('./commands/audit/check.ts')).check,
  archive: async () => (await import('./commands/archive.ts')).archive,
  'archive verify': async () => (await import('./commands/archive/verify.ts')).verify,
  'archive recall': async () => (await import('./commands/archive/recall.ts')).recall,
  'archive restore': async () => (await import('./commands/archive/restore.ts')).restore,
  'archive move': async () => (await import('./commands/archive/move.ts')).move,
  uninstall: async () => (await import('./commands/uninstall.ts')).uninstall,
  maintain: async () => (await import('./commands/maintain.ts')).maintain,
  token: async () => (await import('./commands/token.ts')).token,
  listen: async () => (await import('./commands/listen.ts')).listen,
  receive: async () => (await import('./commands/receive.ts')).receive,
};

/** Adds to `program` the command that `words` call, or all of them where that is not one. */
export async function addCommands(program: Command, line: CommandLine, words: readonly string[]): Promise<void> {
  const called = [words.slice(0, 2).join(' '), words[0] ?? ''].find((name) => name in COMMANDS);
  const isCall = called !== undefined && !words.includes('--help') && !words.includes('-h');
  for (const [name, load] of Object.entries(COMMANDS)) {
    if (!isCall || name === called) addCommand(program, name, await load(), line);
  }
}
