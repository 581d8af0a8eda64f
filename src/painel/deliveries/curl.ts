/** The command that repeats an attempt from somebody's own machine. Pure. */
import type { SentAttempt } from '../../contract/resources/delivery-resource.ts';

/** For a POSIX shell; nothing in what is quoted can end the quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function curlOf({ url, cabecalhos }: SentAttempt, body: string): string {
  const lines = [
    `curl -i --globoff ${quoted(url)}`,
    ...cabecalhos.map(({ nome, valor }) => `-H ${quoted(`${nome}: ${valor}`)}`),
    `--data-raw ${quoted(body)}`,
  ];
  return lines.join(' \\\n  ');
}
