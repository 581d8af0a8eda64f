/**
 * A receiver for one webhook in the partner's language: the server and verifier of src/http/receivers/, with the webhook's path.
 */
import { readFileSync } from 'node:fs';

interface SnippetFile {
  readonly name: string;
  readonly code: string;
}

export interface Snippet {
  readonly language: string;
  /** The server, then the verifier that it needs beside it. */
  readonly files: readonly [server: SnippetFile, verifier: SnippetFile];
}

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
].map(([language = '', name = '', verifier = '', folder = '']) => {
  return { language, name, server: published(name), beside: folder + verifier, verifier: published(verifier) };
});

/** For the webhook of this URL; its query is no part of a route. */
export function snippetsFor(url: string): readonly Snippet[] {
  const { pathname } = new URL(url);
  // In single quotes nothing is put in for `$` or `#`.
  const quoted = { '"': JSON.stringify(pathname), "'": `'${pathname.replaceAll(/['\\]/g, String.raw`\$&`)}'` };
  return LANGUAGES.map(({ language, name, server, beside, verifier }) => {
    const code = server.replace(/(["'])\/carteiro\1/, (_, quote: '"' | "'") => quoted[quote]);
    return {
      language,
      files: [
        { name, code },
        { name: beside, code: verifier },
      ],
    };
  });
}
