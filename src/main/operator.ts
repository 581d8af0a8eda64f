/** What the operator's commands share: who acts and why, what they print, and how they reach the database. */
import { InvalidArgumentError } from 'commander';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Config } from '../config.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { DatabaseUnavailable } from '../db/unavailable.ts';
import { type CommandLine, flag, option, optionOr, required } from './command.ts';
import { readInteger, readPosition, readUuid } from './arguments.ts';
import { LIST_PAGE, readBounded } from '../admin/bounds.ts';
import { MAX_LINE } from '../contract/resources/operator.ts';
import { readLine } from '../admin/author.ts';
import { type Around, type JobOptions, withJobPool } from './job-pool.ts';

/** A line of history, which is sealed. */
export function readHistoryLine(text: string): string {
  const line = readLine(text);
  if (line === null) throw new InvalidArgumentError(`Give one line of 1 to ${MAX_LINE} characters, without a CPF.`);
  return line;
}

/** The system's user; a container may run as a number that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

export const json = flag('--json', 'print JSON instead of text');
export const author = optionOr('--author <name>', 'who does this, for the history', readHistoryLine, systemUser());
export const reason = option('--reason <text>', 'why, for the history; no CPF belongs here', readHistoryLine);
export const requiredReason = required('--reason <text>', 'why, for the history; no CPF belongs here', readHistoryLine);

/**
 * Throws when there is nothing to steer, before a key is made in a folder that an operator who forgot DATABASE_URL did not name.
 */
export function refuseNowhere({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== null || existsSync(dataDir)) return;
  throw new DatabaseUnavailable(
    `there is no database: set DATABASE_URL; or, for the sandbox that npm start runs, DATA_DIR to its folder (${dataDir} is not there)`,
  );
}

/** Runs `work` on the database, which must be there, and is not waited for. */
export async function operate<T>(
  line: CommandLine,
  work: (pool: Pool, around: Around) => Promise<T>,
  options: JobOptions = {},
): Promise<T> {
  refuseNowhere(line.configure().config);
  return withJobPool(line, work, { isPatient: false, ...options });
}

/** {@link operate} for a read whose limits bound what it looks at. */
export function operateBounded<T>(line: CommandLine, read: (sql: Tx) => Promise<T>): Promise<T> {
  return operate(line, (pool) => readBounded(pool, read));
}

const MOST_LISTED = 1_000;

export const paging = {
  after: option('--after <id>', 'go on after this one, where an earlier page ended', readUuid),
  limit: optionOr('--limit <number>', `how many, at most ${MOST_LISTED}`, readInteger(1, MOST_LISTED), LIST_PAGE),
} as const;

export const before = option('--before <number>', 'the lines of history before that one', readPosition);

/** Writes to standard error how to read the next page. */
export function printMore(key: string | null, how: (key: string) => string): void {
  if (key !== null) process.stderr.write(`there is more: ${how(key)}\n`);
}

/** Prints what a command came to: for a program, or for a person. */
export function printResult({ print }: CommandLine, isJson: boolean, result: unknown, text: string): void {
  print(isJson ? JSON.stringify(result) : text);
}
