/** The page's languages, a folder each; a text that one of them lacks does not compile. */
import type { Language } from '../../contract/language.ts';
import { docsEn } from './en/docs.ts';
import { en } from './en/page.ts';
import { type DocsTexts, docsPt } from './pt/docs.ts';
import { pt, type Texts } from './pt/page.ts';

export type { Texts };

export const LANGUAGES: Readonly<Record<Language, Texts>> = { pt, en };

/** The pages at /docs. */
export const DOCS: Readonly<Record<Language, DocsTexts>> = { pt: docsPt, en: docsEn };

/** What `lang` says of a page. */
export const LANGUAGE_TAG: Readonly<Record<Language, string>> = { pt: 'pt-BR', en: 'en' };

/** The language that was chosen before; Portuguese unless it was another. */
export function languageOf(chosen: string | undefined): Language {
  return chosen === 'en' ? 'en' : 'pt';
}
