/**
 * The description's sentences in English, by their Portuguese ones: the description itself is Portuguese alone, because a
 * document of OpenAPI has one language. A sentence without its English is named by a test (test/painel/docs.db.test.ts).
 */
import { OPERATIONS } from './en/api-operations.ts';
import { PARTS } from './en/api-parts.ts';

const SENTENCES: Readonly<Record<string, string>> = { ...OPERATIONS, ...PARTS };

/** Sentences with a number in them. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/^Sem ele, (\d+)$/, 'Without it, $1'],
  [/^O corpo tem no máximo (.+)\.$/, 'The body is at most $1.'],
];

/** The English of a sentence of the description; the sentence itself where there is none. */
export function inEnglish(text: string): string {
  const known = SENTENCES[text];
  if (known !== undefined) return known;
  const [pattern, english] = PATTERNS.find(([form]) => form.test(text)) ?? [];
  return pattern === undefined || english === undefined ? text : text.replace(pattern, english);
}
