/** What the command line's words are read with; each throws with the rule, which the usage error repeats. */
import { readSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import type { TreeHead } from '../audit/seals/tree/merkle.ts';
import { readHead as parseHead } from '../audit/checkpoint/checkpoint.ts';
import { isCpf } from '../contract/masking/cpf.ts';
import { FIRST_DAY, LAST_DAY } from '../contract/calendar.ts';

export function readText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Must not be empty.');
  return text;
}

export function readUuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) throw new InvalidArgumentError('Give a UUID.');
  return text.toLowerCase();
}

export function readDay(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text);
  if (!isDay) throw new InvalidArgumentError('Give a day: 2026-06-30.');
  if (text < FIRST_DAY || text > LAST_DAY)
    throw new InvalidArgumentError(`Give a day from ${FIRST_DAY} to ${LAST_DAY}.`);
  return text;
}

/** A month as the contract has it, from 2000 on. */
export function readMonth(text: string): string {
  if (!/^[2-9]\d{3}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('Give a month: 2026-06.');
  return text;
}

export function readSeconds(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('Give whole seconds: 60.');
  return Number(text);
}

export function readHead(text: string): TreeHead {
  const head = parseHead(text);
  if (head === null) throw new InvalidArgumentError('Give a head as audit head printed it, or a checkpoint.');
  return head;
}

export function readInteger(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < min || number > max) throw new InvalidArgumentError(`Give ${min} to ${max}.`);
    return number;
  };
}

/** A position in a history, as a command printed it. */
export function readPosition(text: string): string {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw new InvalidArgumentError('Give the number that --before was told with.');
  return text;
}

/** `-` reads it from standard input, so that it stands in no shell's history and no list of processes. */
export function readCpf(text: string): string {
  const digits = (text === '-' ? readLine() : text).replaceAll(/[.-]/g, '');
  if (!isCpf(digits)) throw new InvalidArgumentError('Give a CPF: 11 digits with right check digits.');
  return digits;
}

function readLine(): string {
  const line = Buffer.alloc(64);
  return line.toString('utf8', 0, readSync(0, line)).trim();
}
