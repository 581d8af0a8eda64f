/** Files that settings name. Messages never repeat a file's content. */
import { readFile } from 'node:fs/promises';
import { ConfigError } from '../config.ts';

/** The text of the file, without white space around it. Throws {@link ConfigError} where it cannot be read. */
export async function readNamed(variable: string, file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`${variable}: cannot be read (${error.code ?? error.name})`]);
  });
  return text.trim();
}
