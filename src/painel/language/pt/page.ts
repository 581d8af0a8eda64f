/** The page in Portuguese, and the shape of every other language. */
import { auditor } from './auditor.ts';
import { everywhere } from './everywhere.ts';
import { operator } from './operator.ts';
import { partner } from './partner.ts';
import { recovery } from './recovery.ts';
import { sandbox } from './sandbox.ts';

export const pt = { ...everywhere, ...partner, ...recovery, sandbox, auditor, operator };

/** What every language says: a text that one of them lacks does not compile. */
export type Texts = typeof pt;
