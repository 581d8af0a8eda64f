/** The command that repeats an attempt from somebody's own machine. Pure. */
import type { SentAttempt } from '../../delivery/partner/read-sent.ts';

/** For a POSIX shell; nothing in what is quoted can end the quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function curlOf({ url, headers }: Pick<SentAttempt, 'url' | 'headers'>, body: Buffer): string {
  const lines = [
    `curl -i --globoff ${quoted(url)}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body.toString('utf8'))}`,
  ];
  return lines.join(' \\\n  ');
}
