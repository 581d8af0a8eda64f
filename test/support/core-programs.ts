/** The core's programs in four languages and in their frameworks, as their pages have them, each ready to run in a folder of its own. */
import { existsSync } from 'node:fs';
import { glob, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { folderWith, isThere, run, snippet } from './snippets.ts';

export const CORE_PAGE = 'src/log/README.md';
export const FRAMEWORKS_PAGE = 'src/log/FRAMEWORKS.md';
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

/** For programs that end within a second: half the CPU of a start. */
const JAVA = ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'] as const;

/** Builds from the module cache alone. */
const GO = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GONOSUMDB: '*' };

const builds = (command: Command, folder: string) =>
  run(command, folder, '', GO).then(
    () => true,
    () => false,
  );

/** What .ci/run installs: the Python packages, the jars of the page's pom.xml, and the crates of its Cargo.toml, built. */
const PYTHON = path.join(homedir(), '.cache/carteiro-python/bin/python');
const JARS_OF_PAGE = path.join(homedir(), '.cache/carteiro-java');
const CRATES = path.join(homedir(), '.cache/carteiro-rust');
const SETTLE = path.join(CRATES, 'debug/settle');

const ofPython = (file: string, module: string): Language => ({
  file,
  needs: `${module} in ~/.cache/carteiro-python (.ci/run has the command)`,
  files: [file],
  isHere: () => isThere([PYTHON, '-c', `import psycopg, ${module}`]),
  command: () => Promise.resolve([PYTHON, file]),
});

const ofNode = (file: string): Language => ({
  file,
  needs: 'the packages of this repository',
  files: [file],
  isHere: async (folder) => {
    await symlink(path.resolve(import.meta.dirname, '../../node_modules'), path.join(folder, 'node_modules'));
    return true;
  },
  command: () => Promise.resolve([process.execPath, file]),
});

const ofJava = (name: string, ...others: readonly string[]): Language => ({
  file: `${name}.java`,
  needs: 'Java, and the jars of the page in ~/.cache/carteiro-java (.ci/run has the command)',
  files: [`${name}.java`, ...others],
  isHere: async (folder) => {
    if (!existsSync(JARS_OF_PAGE) || !(await isThere(['javac', '-version']))) return false;
    await run(['javac', '-encoding', 'UTF-8', '-cp', `${JARS_OF_PAGE}/*:.`, `${name}.java`], folder);
    return true;
  },
  command: () => Promise.resolve([...JAVA, '-cp', `.:${JARS_OF_PAGE}/*`, name]),
});

const FRAMEWORKS: readonly Language[] = [
  ofJava('SpringSettle'),
  ofJava('JooqSettle'),
  ofJava('HibernateSettle'),
  ofPython('settle_sqlalchemy.py', 'sqlalchemy'),
  ofPython('settle_django.py', 'django'),
  ofPython('settle_asyncpg.py', 'asyncpg'),
  ofNode('settle-postgres.mjs'),
  ofNode('settle-drizzle.mjs'),
  {
    file: 'src/main.rs',
    needs: 'cargo, and the crates of the page in ~/.cache/carteiro-rust (.ci/run has the command)',
    files: ['src/main.rs', 'Cargo.toml'],
    isHere: async (folder) => {
      if (!existsSync(SETTLE) || !(await isThere(['cargo', '--version']))) return false;
      await run(['cargo', 'build', '-q', '--offline'], folder, '', { CARGO_TARGET_DIR: CRATES });
      return true;
    },
    command: () => Promise.resolve([SETTLE]),
  },
];

/** Not one that settles: it prints what an inner transaction does on the outer one's loan. */
export const PROPAGATION = 'SpringPropagation.java';

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
    command: async () => [...JAVA, '-cp', `.:${await findJar()}`, 'Settle'],
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
export const FRAMEWORK_PROGRAMS = FRAMEWORKS.map(({ file }) => file);

/** Settles a loan of a partner through the database at `url`, and returns what the program printed. */
export type Settle = (url: string, loan: string, partner: string) => Promise<string>;

/** Or what this machine lacks for that. */
export async function prepareProgram(name: string): Promise<Settle | string> {
  const page = CORE_PROGRAMS.includes(name) ? CORE_PAGE : FRAMEWORKS_PAGE;
  const language = [...LANGUAGES, ...FRAMEWORKS, ofJava('SpringPropagation', 'SpringSettle.java')].find(
    (one) => one.file === name,
  ) as Language;
  const { file, needs, files, others, isHere, command } = language;
  const texts = await Promise.all(files.map(async (one) => [one, await snippet(one, page)] as const));
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
