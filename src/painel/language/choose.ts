/** The page's languages, and which of them a reader has chosen. */
import type { Language } from '../../contract/language.ts';
import { auditor } from './auditor.ts';
import { deliveries } from './deliveries.ts';
import { docs } from './docs.ts';
import { everywhere } from './everywhere.ts';
import { operator } from './operator.ts';
import { partner } from './partner.ts';
import { receiver } from './receiver.ts';
import { recovery } from './recovery.ts';
import { sandbox } from './sandbox.ts';
import { webhooks } from './webhooks.ts';
import { say } from './words.ts';

export const LANGUAGES = say({
  ...everywhere,
  ...deliveries,
  ...webhooks,
  ...receiver,
  ...partner,
  ...recovery,
  sandbox,
  auditor,
  operator,
});
export type Texts = (typeof LANGUAGES)['pt'];

export const DOCS = say(docs);
export type DocsTexts = (typeof DOCS)['pt'];

/** What `lang` says of a page. */
export const LANGUAGE_TAG: Readonly<Record<Language, string>> = { pt: 'pt-BR', en: 'en' };

/** The language that was chosen before, else the first of ours that the browser accepts; Portuguese without either. */
export function languageOf(chosen: string | undefined, accepted = ''): Language {
  const wanted = chosen ?? /(?<![\w-])(?:pt|en)\b/i.exec(accepted)?.[0].toLowerCase();
  return wanted === 'en' ? 'en' : 'pt';
}
