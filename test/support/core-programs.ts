/** The programs of src/log/README.md in four languages, as they stand there, each ready to run in a folder of its own. */
import { existsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { folderWith, isThere, run, snippet } from './snippets.ts';

export const CORE_PAGE = 'src/log/README.md';
const NUMBER = '2026-00000001';
const PGX = 'github.com/jackc/pgx/v5 v5.7.5';
const JARS = ['/usr/share/java/postgresql.jar', '.m2/repository/org/postgresql/postgresql/*/postgresql-*.jar'];

type Command = readonly [string, ...string[]];

interface Language {
  readonly file: string;
  readonly needs: string;
  /** Files of the page, and others by their content. */
  readonly files: readonly string[];
  readonly others?: Readonly<Record<string, string>>;
  readonly isHere: (folder: string) => Promise<boolean>;
  readonly command: () => Promise<Command>;
}

/** The Python that is named, else the first of these that has psycopg; null: none has. */
export async function findPsycopg(): Promise<string | null> {
  const given = process.env['PYTHON'];
  for (const python of given === undefined ? ['python3', '/usr/bin/python3'] : [given])
    if (await isThere([python, '-c', 'import psycopg'])) return python;
  return null;
}

/** Maven's or Debian's copy of the driver, or the one that is named. */
async function findJar(): Promise<string | null> {
  const given = process.env['PGJDBC_JAR'];
  if (given !== undefined) return existsSync(given) ? given : null;
  for await (const jar of glob(JARS, { cwd: homedir() }))
    if (/-[\d.]+\.jar$|postgresql\.jar$/.test(jar)) return path.resolve(homedir(), jar);
  return null;
}

/** Builds from the module cache alone. */
const GO = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GONOSUMDB: '*' };

const builds = (command: Command, folder: string) =>
  run(command, folder, '', GO).then(
    () => true,
    () => false,
  );

const LANGUAGES: readonly Language[] = [
  {
    file: 'settle.sh',
    needs: 'psql and shuf',
    files: ['settle.sh', 'settle.sql'],
    isHere: async () => (await isThere(['psql', '--version'])) && isThere(['shuf', '--version']),
    command: () => Promise.resolve(['sh', 'settle.sh']),
  },
  {
    file: 'settle.py',
    needs: "Python with psycopg 3, as in Debian's python3-psycopg (PYTHON names another one)",
    files: ['settle.py'],
    isHere: async () => (await findPsycopg()) !== null,
    command: async () => [(await findPsycopg()) ?? 'python3', 'settle.py'],
  },
  {
    file: 'Settle.java',
    needs: 'Java, and org.postgresql:postgresql in ~/.m2, /usr/share/java or PGJDBC_JAR',
    files: ['Settle.java'],
    isHere: async (folder) =>
      (await findJar()) !== null && builds(['javac', '-encoding', 'UTF-8', 'Settle.java'], folder),
    command: async () => ['java', '-cp', `.:${await findJar()}`, 'Settle'],
  },
  {
    file: 'settle.go',
    needs: `Go with ${PGX} in its module cache`,
    files: ['settle.go'],
    others: { 'go.mod': `module settle\n\ngo 1.23\n\nrequire ${PGX}\n` },
    isHere: (folder) => builds(['go', 'build', '-o', 'settle', 'settle.go'], folder),
    command: () => Promise.resolve(['./settle']),
  },
];

export const CORE_PROGRAMS = LANGUAGES.map(({ file }) => file);

/** Settles a loan of a partner through the database at `url`, and returns what the program printed. */
export type Settle = (url: string, loan: string, partner: string) => Promise<string>;

/** Or what this machine lacks for that. */
export async function prepareProgram(name: string): Promise<Settle | string> {
  const { file, needs, files, others, isHere, command } = LANGUAGES.find((one) => one.file === name) as Language;
  const texts = await Promise.all(files.map(async (one) => [one, await snippet(one, CORE_PAGE)] as const));
  const folder = await folderWith({ ...Object.fromEntries(texts), ...others });
  if (!(await isHere(folder.path))) return `${file} needs ${needs}`;
  const [program, ...args] = await command();
  return (url, loan, partner) =>
    run([program, ...args, loan, partner, NUMBER], folder.path, '', {
      CORE_DATABASE_URL: url,
      CORE_JDBC_URL: jdbcUrlOf(url),
      HOME: tmpdir(),
    });
}

function jdbcUrlOf(url: string): string {
  const { hostname, port, pathname, username, password, search } = new URL(url);
  return `jdbc:postgresql://${hostname}:${port}${pathname}?user=${username}&password=${password}${search.replace('?', '&')}`;
}
