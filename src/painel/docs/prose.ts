/** Sentences of the description and of the pages, with `code` between backticks. */
import { html } from 'hono/html';
import type { Html } from '../env.ts';

export function prose(text: string): Html {
  const parts = text.split('`');
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

export function paragraphs(texts: string | readonly string[]): Html {
  return html`${[texts].flat().map((text) => html`<p>${prose(text)}</p>`)}`;
}
