/** How a receiver knows that a delivery is genuine: the files to copy, a recipe for each framework, how they compute, and cases to prove another one with. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path/posix';
import { html } from 'hono/html';
import { CHECK_WORDS } from '../../contract/conformance/words.ts';
import type { Html, PainelContext, PainelDeps } from '../env.ts';
import { copyable, paragraphs, prose, table } from '../frame/parts.ts';
import { DOCS } from '../language/choose.ts';
import { published, snippetsFor } from '../webhooks/snippets.ts';

const RECEIVERS = new URL('../../http/receivers/', import.meta.url);
const VECTORS = {
  'standard-vectors.json': RECEIVERS,
  'contract-vectors.json': RECEIVERS,
  'vectors.json': new URL('../../audit/verifiers/', import.meta.url),
};
const vectors = Object.entries(VECTORS).map(([name, folder]) => ({
  name,
  text: readFileSync(new URL(name, folder), 'utf8'),
}));
const snippets = snippetsFor('https://parceiro.example.com/carteiro');

/** Of a framework: its file, and the verifier that this needs beside it. */
const recipes = Object.entries({
  Express: ['express.mjs', 'carteiro.mjs'],
  Django: ['carteiro_django.py', 'carteiro.py'],
  Flask: ['carteiro_flask.py', 'carteiro.py'],
  Spring: ['CarteiroController.java', 'Carteiro.java'],
  Laravel: ['carteiro_laravel.php', 'carteiro.php'],
  Rails: ['carteiro_controller.rb', 'carteiro.rb'],
  'ASP.NET': ['CarteiroApp.cs', 'Carteiro.cs'],
} as const).map(([framework, [name, verifier]]) => ({ framework, name, verifier, text: published(`recipes/${name}`) }));
const TYPED = { name: 'carteiro.ts', text: published('carteiro.ts') };

export const FILES_PATH = '/docs/receptores';
const files = new Map(
  [
    ...snippets.flatMap(({ server, verifier }) => [server, verifier].map(({ name, code: text }) => ({ name, text }))),
    TYPED,
    ...recipes,
    ...vectors,
  ].map(({ name, text }) => [basename(name), text]),
);

/** A receiver's file, or published vectors, to download; null: there is none of that name. */
export const fileOf = (name: string): string | null => files.get(name) ?? null;

const download = (name: string) => html`<a href="${FILES_PATH}/${basename(name)}" download>${basename(name)}</a>`;

export function verificationBody(c: PainelContext, checkpointKeys: PainelDeps['checkpointKeys']): Html {
  const { language, texts: t } = c.var;
  const { verification: words } = DOCS[language];
  return html`${paragraphs(words.intro)}
    <ul>
      ${words.functions.map((text) => html`<li>${prose(text)}</li>`)}
    </ul>
    ${snippets.map(
      ({ language: name, server, verifier }) =>
        html`<details class="card" id="${name}">
          <summary>${name}</summary>
          <h2>${words.verifier}: ${verifier.name}</h2>
          <p>
            ${words.download}: ${download(verifier.name)}, ${download(server.name)}
            ${verifier.name === 'carteiro.mjs' ? html` (TypeScript: ${download(TYPED.name)})` : ''}
          </p>
          ${copyable(t, `verifier-${name}`, `${words.verifier}: ${verifier.name}`, verifier.code)}
          <h2>${words.receiver}: ${server.name}</h2>
          ${copyable(t, `receiver-${name}`, `${words.receiver}: ${server.name}`, server.code)}
        </details>`,
    )}
    <h2>${words.recipesTitle}</h2>
    ${paragraphs(words.recipes)}
    ${recipes.map(
      ({ framework, name, verifier, text }) =>
        html`<details class="card" id="${framework}">
          <summary>${framework}</summary>
          <p>${words.download}: ${download(name)}, ${download(verifier)}</p>
          ${copyable(t, `recipe-${framework}`, name, text)}
        </details>`,
    )}
    <h2>${words.checkpointTitle}</h2>
    ${paragraphs(words.checkpoint)}
    ${
      checkpointKeys.length === 0
        ? html`<p class="dim">${words.noCheckpointKeys}</p>`
        : html`<p><a href="/.well-known/carteiro-checkpoint-keys">${words.checkpointKeys}</a></p>
            ${copyable(t, 'checkpoint-keys', words.checkpointKeys, checkpointKeys.map(({ text }) => text).join('\n'))}`
    }
    <h2>${words.byHandTitle}</h2>
    ${paragraphs(words.byHand)}
    <h2>${words.rotationTitle}</h2>
    ${paragraphs(words.rotation)}
    <h2 id="homologacao">${words.checksTitle}</h2>
    ${paragraphs(words.checks)}
    ${table(
      words.checksTitle,
      [words.check, words.sent, words.passes],
      Object.values(CHECK_WORDS).map(({ title, sent, mend }) =>
        [title, sent, mend].map((text) => prose(text[language])),
      ),
      { wraps: true },
    )}
    <h2>${words.vectorsTitle}</h2>
    ${paragraphs(words.vectors)}
    ${vectors.map(
      ({ name, text }) =>
        html`<details class="card">
          <summary>${name}</summary>
          <p>${words.download}: ${download(name)}</p>
          ${copyable(t, `vectors-${name}`, name, text)}
        </details>`,
    )}`;
}
