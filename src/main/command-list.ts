/**
 * Every command by its name. Only the description that a call needs is loaded, so that a poller carries none of the
 * others; help loads them all.
 */
import { Argument, type Command, Option } from 'commander';
import { type CommandLine, type Description, EXIT } from './command.ts';

type Load = () => Promise<Description>;

/** What stands before several commands. */
const GROUPS: Readonly<Record<string, string>> = {
  partner: 'partners: make, read, change, let go',
  webhook: 'webhooks: read, mute, cap',
  delivery: 'one delivery: read, send again, end',
  queue: 'what waits, and who moves it',
  secrets: 'the keys that encrypt signing secrets',
  registry: 'the bridge to the employment-data registry: simulate it, check one',
  audit: 'seals, balance and evidence',
};

const COMMANDS: Readonly<Record<string, Load>> = {
  start: async () => (await import('./commands/start.ts')).start,
  api: async () => (await import('./commands/api.ts')).api,
  poll: async () => (await import('./commands/poll.ts')).poll,
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
  'secrets reseal': async () => (await import('./commands/secrets/reseal.ts')).reseal,
  'sync-bonds': async () => (await import('./commands/sync-bonds.ts')).syncBonds,
  'close-settlement': async () => (await import('./commands/close-settlement.ts')).closeSettlement,
  'registry serve': async () => (await import('./commands/registry/serve.ts')).serve,
  'registry check': async () => (await import('./commands/registry/check.ts')).check,
  rebuild: async () => (await import('./commands/rebuild.ts')).rebuild,
  'audit seal': async () => (await import('./commands/audit/seal.ts')).seal,
  'checkpoint key': async () => (await import('./commands/checkpoint/key.ts')).key,
  'audit verify': async () => (await import('./commands/audit/verify.ts')).verify,
  'audit head': async () => (await import('./commands/audit/head.ts')).head,
  'audit balance': async () => (await import('./commands/audit/balance.ts')).balance,
  'audit check': async () => (await import('./commands/audit/check.ts')).check,
  token: async () => (await import('./commands/token.ts')).token,
  listen: async () => (await import('./commands/listen.ts')).listen,
  receive: async () => (await import('./commands/receive.ts')).receive,
  demo: async () => (await import('./commands/demo.ts')).demo,
};

/** Adds to `program` the command that `words` call, or all of them where that is not one. */
export async function addCommands(program: Command, line: CommandLine, words: readonly string[]): Promise<void> {
  const called = [words.slice(0, 2).join(' '), words[0] ?? ''].find((name) => name in COMMANDS);
  const isCall = called !== undefined && !words.includes('--help') && !words.includes('-h');
  for (const [name, load] of Object.entries(COMMANDS)) {
    if (!isCall || name === called) add(program, name, await load(), line);
  }
}

function add(program: Command, name: string, description: Description, line: CommandLine): void {
  const { summary, takes, options, help, exits, run } = description;
  const words = name.split(' ');
  const own = (words.length === 1 ? program : groupOf(program, words[0] ?? '')).command(words.at(-1) ?? '');
  own.description(summary).addHelpText('after', `\n${help.trim()}\n\n${exitCodes(exits)}`);
  for (const [key, { about, read, shown = key }] of Object.entries(takes)) {
    own.addArgument(new Argument(`<${shown}>`, about).argParser(read));
  }
  for (const [key, { flags, about, read, isRequired = false, choices, initial, env }] of Object.entries(options)) {
    const made = new Option(flags, about).makeOptionMandatory(isRequired);
    if (made.attributeName() !== key) throw new Error(`the option ${flags} of ${name} is not called ${key}`);
    if (read !== undefined) made.argParser(read);
    if (choices !== undefined) made.choices(choices);
    if (env !== undefined) made.env(env);
    // Said of a flag, "default: false" says nothing.
    const isShown = initial !== undefined && initial.value !== false;
    if (isShown) made.default(initial.value, initial.shown);
    own.addOption(made);
  }
  own.action(async (...typed: unknown[]) => {
    const keys = Object.keys(takes);
    const initials = Object.entries(options).map(([key, { initial }]) => [key, initial?.value] as const);
    const args = keys.map((key, index) => [key, typed[index]] as const);
    const given = { ...Object.fromEntries(initials), ...(typed[keys.length] as object), ...Object.fromEntries(args) };
    process.exitCode = (await run(given as never, line)) ?? EXIT.done;
  });
}

function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((group) => group.name() === name);
  return found ?? program.command(name).description(GROUPS[name] ?? '');
}

function exitCodes({ done, refused, outOfReach = 'the database is out of reach' }: Description['exits']): string {
  const codes = [
    [EXIT.done, done],
    [EXIT.refused, refused ?? 'it could not be done'],
    [EXIT.usage, 'the arguments or the environment cannot be used; nothing was tried'],
    ...(outOfReach === null ? [] : [[EXIT.outOfReach, outOfReach] as const]),
  ] as const;
  return codes
    .map(([code, text], index) => `${index === 0 ? 'Exit code: ' : '           '}${code}  ${text}`)
    .join('\n');
}
