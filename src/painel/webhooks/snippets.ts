/** A receiver for one webhook, in each language: the server and verifier of src/http/receivers/, with the webhook's path. */
import { readFileSync } from 'node:fs';

export const published = (file: string) =>
  readFileSync(new URL(`../../http/receivers/${file}`, import.meta.url), 'utf8');

/** Go has its package in a folder. */
const LANGUAGES = [
  ['Node', 'receiver.mjs', 'carteiro.mjs', ''],
  ['Python', 'receiver.py', 'carteiro.py', ''],
  ['Go', 'main.go', 'carteiro.go', 'carteiro/'],
  ['Java', 'Receiver.java', 'Carteiro.java', ''],
  ['PHP', 'receiver.php', 'carteiro.php', ''],
  ['Ruby', 'receiver.rb', 'carteiro.rb', ''],
  ['C#', 'Receiver.cs', 'Carteiro.cs', ''],
].map(([language = '', name = '', beside = '', folder = '']) => {
  const verifier = { name: folder + beside, code: published(beside) };
  return { language, server: { name, code: published(name) }, verifier };
});

/** For the webhook of this URL; its query is no part of a route. */
export function snippetsFor(url: string) {
  const { pathname } = new URL(url);
  // In single quotes nothing is put in for `$` or `#`.
  const quoted = { '"': JSON.stringify(pathname), "'": `'${pathname.replaceAll(/['\\]/g, String.raw`\$&`)}'` };
  return LANGUAGES.map(({ language, server, verifier }) => {
    const code = server.code.replace(/(["'])\/carteiro\1/, (_, quote: '"' | "'") => quoted[quote]);
    return { language, server: { name: server.name, code }, verifier };
  });
}
