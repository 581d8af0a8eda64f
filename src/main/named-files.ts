/** Files that settings name. Nothing of what a file holds is repeated. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError } from '../config.ts';
import { readOrMakeFile } from '../key-file.ts';

/** The text of the file, without white space around it. Throws {@link ConfigError} where it cannot be read. */
export async function readNamed(variable: string, file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`${variable}: cannot be read (${error.code ?? error.name})`]);
  });
  return text.trim();
}

interface OwnKey {
  readonly variable: string;
  /** Null: the setting is absent. */
  readonly file: string | null;
  /** Under DATA_DIR. */
  readonly sandboxFile: string;
  readonly make: () => string;
}

/** The text of a key's file; in a sandbox without the setting, of its own one, which is made. Null where there is no key. */
export async function readKeyFile({ dataDir, sandbox }: Config, own: OwnKey): Promise<string | null> {
  const { variable, file, sandboxFile, make } = own;
  if (file === null) return sandbox ? readOrMakeFile(join(dataDir, sandboxFile), make) : null;
  return readFile(file, 'utf8').catch((cause: Error) => {
    throw new Error(`${variable}: ${file} cannot be read`, { cause });
  });
}
