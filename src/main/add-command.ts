/** A description becomes a command of commander's: its words, its help and its exit codes. */
import { Argument, type Command } from 'commander';
import { type CommandLine, type Description, EXIT } from './command.ts';

/** What stands before several commands. */
const GROUPS: Readonly<Record<string, string>> = {
  partner: 'partners: make, read, change, let go',
  webhook: 'webhooks: read, mute, cap',
  delivery: 'one delivery: read, send again, end',
  queue: 'what waits, and who moves it',
  secrets: 'signing secrets, and the keys that encrypt them',
  registry: 'the bridge to the employment-data registry: simulate it, check one',
  audit: 'seals, balance and evidence',
  archive: 'months of the log as files',
};

/** Adds the command `name`, of one word or of two. */
export function addCommand(program: Command, name: string, description: Description, line: CommandLine): void {
  const { summary, takes, options, help, exits, run } = description;
  const words = name.split(' ');
  const own = (words.length === 1 ? program : groupOf(program, words[0] ?? '')).command(words.at(-1) ?? '');
  own.description(summary).addHelpText('after', `\n${help.trim()}\n\n${exitCodes(exits)}`);
  for (const [key, { about, read, shown = key, isOptional }] of Object.entries(takes)) {
    own.addArgument(new Argument(isOptional === true ? `[${shown}]` : `<${shown}>`, about).argParser(read));
  }
  for (const [key, option] of Object.entries(options)) {
    if (option.attributeName() !== key) throw new Error(`the option ${option.flags} of ${name} is not called ${key}`);
    own.addOption(option);
  }
  own.action(async (...typed: unknown[]) => {
    const keys = Object.keys(takes);
    const flags = Object.entries(options).flatMap(([key, option]) =>
      option.isBoolean() ? [[key, false] as const] : [],
    );
    const args = keys.map((key, index) => [key, typed[index]] as const);
    const given = { ...Object.fromEntries(flags), ...(typed[keys.length] as object), ...Object.fromEntries(args) };
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
