/**
 * The definition of a command: its arguments, help, exit codes and `run`; and its translation for commander. `run` is typed by
 * the readers of `takes` and `options`, so a renamed option fails to compile. Load heavy modules inside `run`.
 * Alternative: `@commander-js/extra-typings` types a chain of calls as well; it would be one more package for sixty lines.
 */
import { Argument, type Command, Option } from 'commander';
import type { Config, Use } from '../config.ts';
import type { Logger } from '../log-lines.ts';

export const EXIT = {
  done: 0,
  /** The state refuses it, or what was looked at is not as it should be. */
  refused: 1,
  /** The arguments or the environment cannot be used; nothing was tried. */
  usage: 2,
  /** The database, or what else the command works on, does not answer. */
  outOfReach: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The arguments cannot be used, by a rule that only all of them together show. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The state refuses what was asked, and nothing was changed. The message is one sentence that says what to do. */
export class Refusal extends Error {
  override name = 'Refusal';
}

/** What the command works on does not answer. The message is one sentence that says what to do. */
export class OutOfReach extends Error {
  override name = 'OutOfReach';
}

/** Makes a value of a word of the command line. Throws commander's `InvalidArgumentError` with the rule. */
type Read<T> = (text: string) => T;

interface Taken<T = unknown> {
  readonly about: string;
  readonly read: Read<T>;
  /** How the usage shows it; its key unless it is given. */
  readonly shown?: string;
  /** Then `read` must be of a type that allows undefined. */
  readonly isOptional?: boolean;
}

declare const VALUE: unique symbol;
/** Commander's own, with the type of what it comes to: `--ttl <time>` takes a value, `--check` is true or left out. */
type OptionOf<T = unknown> = Option & { readonly [VALUE]?: T };

type Arguments = Readonly<Record<string, Taken>>;
type Options = Readonly<Record<string, OptionOf>>;
type Given<A extends Arguments, O extends Options> = {
  readonly [K in keyof A]: A[K] extends Taken<infer T> ? T : never;
} & {
  readonly [K in keyof O]: O[K] extends OptionOf<infer T> ? T : never;
};

/** How the command ends; what every command has (usage, out of reach) is added to it. */
export interface Exits {
  readonly done: string;
  readonly refused?: string;
  /** Null for a command that needs nothing out of its process. */
  readonly outOfReach?: string | null;
}

export interface CommandLine {
  /** The environment, read for a command that uses these, and a logger. Throws {@link ConfigError}. */
  readonly configure: (...uses: Use[]) => { readonly config: Config; readonly log: Logger };
  readonly print: (result: string) => void;
}

export interface Description {
  /** One line in the list of commands. */
  readonly summary: string;
  /** In the order they are typed. */
  readonly takes: Arguments;
  /** By commander's name: `--dry-run` is `dryRun`. */
  readonly options: Options;
  /** What a manual says: what it does, when, what it prints. */
  readonly help: string;
  readonly exits: Exits;
  readonly run: (given: never, line: CommandLine) => Promise<ExitCode | void>;
}

/** Commands that begin with the same word, which may be a command too. */
export interface Group {
  readonly about: string;
  readonly own?: Description;
  /** By their second words. */
  readonly commands: Readonly<Record<string, Description>>;
}

export function command<const A extends Arguments, const O extends Options>(
  description: Omit<Description, 'run' | 'takes' | 'options'> & {
    readonly takes?: A;
    readonly options?: O;
    readonly run: (given: Given<A, O>, line: CommandLine) => Promise<ExitCode | void>;
  },
): Description {
  return { takes: {}, options: {}, ...description };
}

/** An option with a value, undefined when it is left out. */
export function option<T>(flags: string, about: string, read: Read<T>): OptionOf<T | undefined> {
  return new Option(flags, about).argParser(read);
}

/** `option`, read from the variable `env` when it is left out. */
export function orFrom<T>(env: string, option: OptionOf<T>): OptionOf<T> {
  return option.env(env);
}

export function required<T>(flags: string, about: string, read: Read<T>): OptionOf<T> {
  return option(flags, about, read).makeOptionMandatory() as OptionOf<T>;
}

/** An option with a value, `value` when it is left out. */
export function optionOr<T>(flags: string, about: string, read: Read<T>, value: T, shown?: string): OptionOf<T> {
  return option(flags, about, read).default(value, shown) as OptionOf<T>;
}

/** One of these words, the first when it is left out. */
export function choiceOr<W extends string>(flags: string, about: string, words: readonly [W, ...W[]]): OptionOf<W> {
  return choice(flags, about, words).default(words[0]) as OptionOf<W>;
}

/** True when it is given, else false. */
export function flag(flags: string, about: string): OptionOf<boolean> {
  return new Option(flags, about);
}

/** One of these words, or undefined. */
export function choice<W extends string>(flags: string, about: string, words: readonly W[]): OptionOf<W | undefined> {
  return new Option(flags, about).choices(words);
}

/** Adds what `name` stands for; of a group whose command `word` is called, that one alone, and so a command with the group's name. */
export function addCommand(
  program: Command,
  name: string,
  found: Description | Group,
  line: CommandLine,
  word = '',
): void {
  if (!('commands' in found)) return describe(program.command(name), name, found, line);
  const { about, own, commands } = found;
  const called = Object.hasOwn(commands, word) ? commands[word] : undefined;
  const group = program.command(name).description(about);
  if (own !== undefined && called === undefined) describe(group, name, own, line);
  if (own !== undefined && word !== '' && called === undefined) return;
  const added = called === undefined ? Object.entries(commands) : [[word, called] as const];
  for (const [second, command] of added) describe(group.command(second), `${name} ${second}`, command, line);
}

function describe(own: Command, name: string, description: Description, line: CommandLine): void {
  const { summary, takes, options, help, exits, run } = description;
  own.description(summary).addHelpText('after', `\n${help.trim()}\n\n${exitCodes(exits)}`);
  for (const [key, { about, read, shown = key, isOptional }] of Object.entries(takes)) {
    own.addArgument(new Argument(isOptional === true ? `[${shown}]` : `<${shown}>`, about).argParser(read));
  }
  for (const [key, option] of Object.entries(options)) {
    if (option.attributeName() !== key) throw new Error(`the option ${option.flags} of ${name} is not called ${key}`);
    own.addOption(option);
    if (option.isBoolean()) own.setOptionValue(key, false);
  }
  own.action(async () => {
    const args = Object.keys(takes).map((key, index) => [key, own.processedArgs[index] as unknown] as const);
    const given = { ...own.opts(), ...Object.fromEntries(args) };
    process.exitCode = (await run(given as never, line)) ?? EXIT.done;
  });
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
