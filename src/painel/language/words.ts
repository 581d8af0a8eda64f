/** How a page's texts are declared: both languages side by side, so that one which is missing does not compile. */
import { type Bilingual, inLanguage, type Language } from '../../contract/language.ts';

interface InBoth<T> {
  readonly pt: T;
  readonly en: T;
}
/** Sentences by a key that only one language may need. */
type Glossary = Readonly<Partial<Record<string, string>>>;
type Text = Bilingual | InBoth<(...given: never[]) => string> | InBoth<Glossary>;

/** Texts, and sentences made of what they are given, by name. */
export interface Words {
  readonly [name: string]: Text | Words | readonly (Text | Words)[];
}

/** The same texts in one language; a sentence whose languages take different arguments does not compile. */
export type Said<T> = T extends { readonly pt: infer P; readonly en: infer E }
  ? E extends P
    ? P
    : never
  : { readonly [K in keyof T]: Said<T[K]> };

export function say<T extends Words>(words: T): Readonly<Record<Language, Said<T>>> {
  const of = (language: Language) => inLanguage(words, language) as Said<T>;
  return { pt: of('pt'), en: of('en') };
}
