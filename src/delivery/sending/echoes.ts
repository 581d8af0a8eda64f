/**
 * Removes our secrets from a receiver's answer, in any form it may echo them, also a beginning at a cut end.
 * Both texts may be a stranger's, so each character is looked at a bounded number of times (Knuth, Morris and Pratt). With `replaceAll` and
 * `endsWith` a token of 8 KB took 100 ms per answer.
 */
import { MASK } from '../../contract/masking/masking.ts';

/** Shorter secrets would mask half an answer. */
const LEAST = 4;

/** All forms in which they may come back, longest first: a shorter one may be a part of it. */
export function echoesOf(secrets: readonly string[]): string[] {
  const forms = secrets.filter((secret) => secret.length >= LEAST).flatMap(formsOf);
  return [...new Set(forms)].toSorted((one, other) => other.length - one.length);
}

/** As it is, and as JSON, URLs, Base64 and hex write it. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const encoded = [bytes.toString('base64').replace(/={1,2}$/, ''), bytes.toString('base64url'), bytes.toString('hex')];
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), ...encoded];
}

/** `answer` without the echoes, nor the beginning of one at its end. */
export function withoutEchoes(answer: string, echoes: readonly string[]): string {
  return echoes.reduce(withoutEcho, answer);
}

function withoutEcho(answer: string, echo: string): string {
  const borders = bordersOf(echo);
  let [rest, from, length] = ['', 0, 0];
  for (let at = 0; at < answer.length; at += 1) {
    length = follow(echo, borders, length, answer.charCodeAt(at));
    if (length < echo.length) continue;
    rest += answer.slice(from, at + 1 - length) + MASK;
    [from, length] = [at + 1, 0];
  }
  return rest + (length < LEAST ? answer.slice(from) : answer.slice(from, answer.length - length) + MASK);
}

/** For each prefix of `echo`, the length of its longest proper border. */
function bordersOf(echo: string): Uint32Array {
  const borders = new Uint32Array(echo.length);
  for (let at = 1; at < echo.length; at += 1)
    borders[at] = follow(echo, borders, borders[at - 1] ?? 0, echo.charCodeAt(at));
  return borders;
}

/** The length of the prefix of `echo` matched after the character `code`, from `length` matched before. */
function follow(echo: string, borders: Uint32Array, length: number, code: number): number {
  let known = length;
  while (known > 0 && echo.charCodeAt(known) !== code) known = borders[known - 1] ?? 0;
  return echo.charCodeAt(known) === code ? known + 1 : 0;
}
