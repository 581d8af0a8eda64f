/** The documentation as one Markdown page, for programs and editors, made from the HTML pages. */
import { NodeHtmlMarkdown } from 'node-html-markdown';
import type { Language } from '../../contract/language.ts';
import type { Html, PainelContext } from '../env.ts';
import { DOCS, type DocsTexts } from '../language/choose.ts';

export const MARKDOWN_PATH = '/docs/integracao.md';
export const LLMS_PATH = '/llms.txt';

/** Characters of a block of code; the longest verifier has 14,000, with markup. */
const LONGEST = 24_000;

type Page = Exclude<keyof DocsTexts['pages'], 'api' | 'registry'>;

export type Body = (c: PainelContext) => Html | Promise<Html>;

/** `bodies` in reading order. Each language is made once; another host name is inserted into the same text. */
export function markdownPages(bodies: Readonly<Record<Page, Body>>) {
  const kept = new Map<Language, ReturnType<typeof make>>();
  const summary = { surroundingNewlines: 2, prefix: '### ' };
  const markdown = new NodeHtmlMarkdown({ ignore: ['button', 'script', 'style', 'svg'] }, { summary });
  // Names keep their underscores: within a word they mean nothing in Markdown.
  const translate = (page: string) => markdown.translate(withoutLong(page)).replaceAll(String.raw`\_`, '_');
  const make = async (c: PainelContext) => {
    const words = DOCS[c.var.language];
    const parts = await Promise.all(
      Object.entries(bodies).map(
        async ([page, body]) => `# ${words[page as Page].title}\n\n${translate(String(await body(c)))}\n`,
      ),
    );
    return { origin: new URL(c.req.url).origin, text: parts.join('\n') };
  };
  return {
    async whole(c: PainelContext): Promise<Response> {
      const made = kept.get(c.var.language) ?? make(c);
      kept.set(c.var.language, made);
      const { origin, text } = await made;
      return answer(c, text.replaceAll(origin, new URL(c.req.url).origin), 'text/markdown');
    },
    /** As llmstxt.org has it. */
    index(c: PainelContext): Response {
      const { markdown: words, verification } = DOCS[c.var.language];
      const at = (path: string) => new URL(path, c.req.url).href;
      const text = `# Carteiro

> ${words.what}

- [integracao.md](${at(MARKDOWN_PATH)}): ${words.whole}
- [openapi.json](${at('/openapi.json')}): ${words.operations}
- [${verification.title}](${at('/docs/verificacao')}): ${words.receivers}
`;
      return answer(c, text, 'text/plain');
    },
  };
}

/** The vectors for whoever writes a verifier are files to download, not text to read. */
function withoutLong(page: string): string {
  const [head = '', ...blocks] = page.split('<pre');
  const kept = blocks.map((block) => {
    const end = block.indexOf('</pre>');
    return end > LONGEST ? block.slice(end + '</pre>'.length) : `<pre${block}`;
  });
  return [head, ...kept].join('');
}

function answer(c: PainelContext, text: string, type: string): Response {
  c.header('Cache-Control', 'no-cache');
  return c.body(text, 200, { 'Content-Type': `${type}; charset=utf-8` });
}
