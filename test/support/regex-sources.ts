/** Every regular expression of src: its literals, and those that a module builds when it is loaded. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

export interface RegexSource {
  /** File and line. */
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

/** They read the release's own SQL alone. */
const OF_OUR_OWN_TEXTS: ReadonlySet<string> = new Set([
  'src/db/migrations/compare-schema.ts',
  'src/db/migrations/migration-files.ts',
]);

const ROOT = path.resolve(import.meta.dirname, '../..');

export async function readRegexes(): Promise<RegexSource[]> {
  const found: RegexSource[] = [];
  const builders: Builder[] = [];
  for (const file of globSync('src/**/*.{ts,js}', { cwd: ROOT })) {
    if (OF_OUR_OWN_TEXTS.has(file)) continue;
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    let places = 0;
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        const where = `${file}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
        found.push({ where, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
      }
      if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') places += 1;
      ts.forEachChild(node, visit);
    };
    visit(tree);
    if (places > 0) builders.push({ file, places });
  }
  return [...found, ...(await builtBy(builders))];
}

interface Builder {
  readonly file: string;
  readonly places: number;
}

/** What these modules hand to `new RegExp` while the API is loaded; it must be at least once for each place. */
async function builtBy(builders: readonly Builder[]): Promise<RegexSource[]> {
  const built: RegexSource[] = [];
  const original = globalThis.RegExp;
  class Watched extends original {
    constructor(source: string | RegExp, flags?: string) {
      super(source, flags);
      const { stack = '' } = new Error('where');
      const builder = builders.find(({ file }) => stack.includes(file));
      if (builder !== undefined) built.push({ where: builder.file, source: this.source, flags: this.flags });
    }
  }
  globalThis.RegExp = Watched as unknown as RegExpConstructor;
  try {
    for (const file of ['src/http/app.ts', ...builders.map((builder) => builder.file)])
      await import(pathToFileURL(path.join(ROOT, file)).href);
  } finally {
    globalThis.RegExp = original;
  }
  for (const { file, places } of builders)
    if (built.filter(({ where }) => where === file).length < places)
      throw new Error(
        `${file} builds a regular expression in a function: make it a literal, or build it when the module is loaded`,
      );
  return built;
}
