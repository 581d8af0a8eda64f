/** The page in English. */
import { auditor } from './auditor.ts';
import { everywhere } from './everywhere.ts';
import { operator } from './operator.ts';
import { partner } from './partner.ts';
import { recovery } from './recovery.ts';
import { sandbox } from './sandbox.ts';
import type { Texts } from '../pt/page.ts';

export const en: Texts = { ...everywhere, ...partner, ...recovery, sandbox, auditor, operator };
