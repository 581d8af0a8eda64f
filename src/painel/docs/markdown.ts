/** The documentation as one Markdown page, for programs and for whoever reads in an editor: made of the pages themselves. */
import { NodeHtmlMarkdown } from 'node-html-markdown';
import type { Html, PainelContext } from '../env.ts';
import { DOCS, type DocsTexts } from '../language/choose.ts';

export const MARKDOWN_PATH = '/docs/integracao.md';
export const LLMS_PATH = '/llms.txt';

/** Pages that are kept as made, by language and host: a host that nobody serves costs no more than another. */
const KEPT = 8;
/** Characters of a block of code; the longest verifier has 14,000, with markup. */
const LONGEST = 24_000;

type Page = Exclude<keyof DocsTexts['pages'], 'api' | 'registry'>;

/** `bodies` in the order in which they are read. */
export function markdownPages(bodies: Readonly<Record<Page, (c: PainelContext) => Html>>) {
  const kept = new Map<string, string>();
  const markdown = new NodeHtmlMarkdown({ ignore: ['button', 'script', 'style', 'svg'] });
  return {
    async whole(c: PainelContext): Promise<Response> {
      const words = DOCS[c.var.language];
      const key = `${c.var.language} ${new URL(c.req.url).host}`;
      let text = kept.get(key);
      if (text === undefined) {
        const parts = await Promise.all(
          Object.entries(bodies).map(
            async ([page, body]) =>
              `# ${words[page as Page].title}\n\n${markdown.translate(withoutLong(String(await body(c))))}\n`,
          ),
        );
        text = parts.join('\n');
        const [oldest] = kept.keys();
        if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
        kept.set(key, text);
      }
      return answer(c, text, 'text/markdown');
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
