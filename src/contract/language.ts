/** The two languages that the service speaks, side by side wherever it says something: one that is missing does not compile. */
export type Language = 'pt' | 'en';

/** The interface's versions behind its first, the newest first: what /docs/mudancas tells of each is declared with this word. */
export const VERSIONS = ['0.4', '0.3', '0.2'] as const;
export type Since = (typeof VERSIONS)[number];

export interface Bilingual {
  readonly pt: string;
  readonly en: string;
}

declare module 'zod' {
  interface GlobalMeta {
    /** What the description says of a field; `description` has one language, so nobody may give it. */
    text?: Bilingual | undefined;
    description?: undefined;
    /** The version of the interface that brought the field; absent: its first. */
    'x-since'?: Since | undefined;
  }
}

/** One text for each language, made by `say`. */
export function both(say: (language: Language) => string): Bilingual {
  return { pt: say('pt'), en: say('en') };
}

/** `value` with one language's texts alone; a schema's `text` is its `description` then. */
export function inLanguage(value: unknown, language: Language): unknown {
  if (isBilingual(value)) return value[language];
  if (Array.isArray(value)) return value.map((part) => inLanguage(part, language));
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value).map(([key, part]) => [
    key === 'text' && isBilingual(part) ? 'description' : key,
    inLanguage(part, language),
  ]);
  return Object.fromEntries(parts);
}

function isBilingual(value: unknown): value is Bilingual {
  return typeof value === 'object' && value !== null && Object.keys(value).toSorted().join() === 'en,pt';
}
