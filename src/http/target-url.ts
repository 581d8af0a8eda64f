/** The `url` of a webhook: checked and normalised, and described by what a client can check without resolving a name. */
import { z } from 'zod';
import { hasNoCpf, NO_CPF } from '../contract/masking/cpf.ts';
import { MAX_URL_LENGTH } from '../contract/resources/webhook.ts';
import { parseTarget } from '../delivery/target/parse-target.ts';

const REST = '[a-z0-9-]{0,61}';
const LABEL = `[a-z0-9](?:${REST}[a-z0-9])?`;
const PORT = String.raw`(?::(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5]))?`;
const PATH = String.raw`(?:/(?:[A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?`;
const OCTET = String.raw`\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const PRIVATE = String.raw`(?:127|10)(?:${OCTET}){3}|172\.(?:1[6-9]|2\d|3[01])(?:${OCTET}){2}|192\.168(?:${OCTET}){2}|\[::1\]`;

/** The last label of a public name: letters, and none that begins as a local one does. No look-around: many engines have none. */
const PUBLIC_END = `(?:[a-hj-km-z][a-z]{1,62}|${otherThan('local')}|${otherThan('internal')})`;

/** Words of 2 to 63 letters that begin with the first letter of `word` and not with `word`. */
function otherThan(word: string): string {
  const ends = Array.from(word.slice(1), (letter, index) => {
    const [same, others] = [word.slice(0, index + 1), 'abcdefghijklmnopqrstuvwxyz'.replace(letter, '')];
    return `${same}[${others}][a-z]{0,${61 - index}}${index > 0 ? `|${same}` : ''}`;
  });
  return ends.join('|');
}

/** The URLs that a client can be sure of. The rules take more: upper case, other scripts and public addresses. */
function patternOf(allowInsecure: boolean): string {
  if (!allowInsecure) return `^https://(?:${LABEL}\\.)+${PUBLIC_END}${PORT}${PATH}$`;
  return `^https?://(?:(?:${LABEL}\\.)*[a-z](?:${REST}[a-z0-9])?|${PRIVATE})${PORT}${PATH}$`;
}

export function targetUrl(allowInsecure: boolean) {
  return z
    .string()
    .meta({
      format: 'uri',
      maxLength: MAX_URL_LENGTH,
      pattern: patternOf(allowInsecure),
      examples: ['https://parceiro.example.com/carteiro'],
    })
    .transform((text, context) => {
      const target = parseTarget(text, { allowInsecure });
      if ('url' in target && hasNoCpf(target.url)) return target.url;
      context.addIssue({ code: 'custom', message: 'url' in target ? NO_CPF : target.refused });
      return z.NEVER;
    });
}
