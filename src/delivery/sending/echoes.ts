/**
 * Takes out of a receiver's answer what we sent it in secret: the secret may come back as it is or in another form, and its beginning
 * may stand at the end of an answer that was cut.
 *
 * Both texts may be written by one stranger, so each character is looked at a bounded number of times (Knuth, Morris and Pratt).
 * With `replaceAll` and `endsWith` a token of 8 KB took 100 ms of the event loop for each answer.
 */
import { MASK } from '../../contract/masking/masking.ts';

/** Shorter ones would mask half an answer. */
const LEAST = 4;

/** What is sent in clear and may come back, the longest form first: a shorter one may be a part of it. */
export function echoesOf(secrets: readonly string[]): string[] {
  const forms = secrets.filter((secret) => secret.length >= LEAST).flatMap(formsOf);
  return [...new Set(forms)].toSorted((one, other) => other.length - one.length);
}

/** How receivers give a text back: as it is, and as JSON, URLs, Base64 and hexadecimal digits write it. */
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

/** Of each beginning of `echo`, the length of its longest proper part that both begins and ends it. */
function bordersOf(echo: string): Uint32Array {
  const borders = new Uint32Array(echo.length);
  for (let at = 1; at < echo.length; at += 1)
    borders[at] = follow(echo, borders, borders[at - 1] ?? 0, echo.charCodeAt(at));
  return borders;
}

/** How much of the beginning of `echo` ends here, where `length` of it ended before the character `code`. */
function follow(echo: string, borders: Uint32Array, length: number, code: number): number {
  let known = length;
  while (known > 0 && echo.charCodeAt(known) !== code) known = borders[known - 1] ?? 0;
  return echo.charCodeAt(known) === code ? known + 1 : 0;
}
