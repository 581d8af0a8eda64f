import { describe, expect, test } from 'vitest';
import type { Command, Decision } from '../../src/loan/command.ts';
import { after, COMMANDS, given } from './loan-spec.ts';
import { type Stage, STAGES } from './loan-stages.ts';

type Name = Command['type'];

/** Which commands each stage accepts. `deliverPackage` and `deliverMissingDocuments` come with all five pieces. */
const ACCEPTED: Record<Stage, readonly Name[]> = {
  nothing: ['issue'],
  issuing: ['concludeIssuance', 'failIssuance'],
  issued: ['concludeSigning', 'endBond'],
  cancelled: [],
  'signing, internal': ['concludeSigning', 'endBond'],
  'signing, grouped': ['deliverPackage', 'endBond'],
  'signing, deferred': ['requestRegistration', 'endBond'],
  'signed, internal': ['requestRegistration', 'endBond'],
  'signed, grouped': ['requestRegistration', 'endBond'],
  'CCB ahead': ['requestRegistration', 'endBond'],
  registering: ['concludeRegistration', 'failRegistration', 'endBond'],
  'registering, deferred': ['concludeRegistration', 'failRegistration', 'endBond'],
  'registration failed': ['requestRegistration', 'endBond'],
  registered: ['settleDisbursement', 'failDisbursement', 'endBond'],
  'registered, documents awaited': [
    'deliverMissingDocuments',
    'deliverDocument',
    'settleDisbursement',
    'failDisbursement',
    'endBond',
  ],
  'registered, CCB ahead': ['deliverDocument', 'settleDisbursement', 'failDisbursement', 'endBond'],
  'registered, documents received': ['settleDisbursement', 'failDisbursement', 'endBond'],
  disbursed: ['endBond'],
  'disbursed, documents awaited': ['deliverMissingDocuments', 'deliverDocument', 'endBond'],
  'disbursed, documents received': ['endBond'],
  'closed while signing': ['recordNewBond'],
  'closed while registering': ['concludeRegistration', 'failRegistration', 'recordNewBond'],
  'closed while registering, deferred': ['concludeRegistration', 'failRegistration', 'recordNewBond'],
  'closed, then registered': ['recordNewBond'],
  'closed while transferring': ['settleDisbursement', 'failDisbursement', 'recordNewBond'],
  'closed, transfer failed': ['recordNewBond'],
  'closed, transfer settled': ['recordNewBond'],
  'closed, documents awaited': ['deliverMissingDocuments', 'deliverDocument', 'recordNewBond'],
};

/** What fits the state but not the pieces it expects. */
const INVALID: readonly (readonly [Stage, Name])[] = [
  ['signing, deferred', 'deliverPackage'],
  ['registered, CCB ahead', 'deliverMissingDocuments'],
];

const STAGE_NAMES = Object.keys(STAGES) as Stage[];
const COMMAND_NAMES = Object.keys(COMMANDS) as Name[];

type Verdict = 'accepted' | 'accepted for nothing' | 'invalid' | 'rejected' | 'rejected without naming the state';

function expected(stage: Stage, name: Name): Verdict {
  if (ACCEPTED[stage].includes(name)) return 'accepted';
  return INVALID.some(([at, what]) => at === stage && what === name) ? 'invalid' : 'rejected';
}

function verdict(decision: Decision, stateName: string): Verdict {
  if ('ok' in decision) return decision.ok.length > 0 ? 'accepted' : 'accepted for nothing';
  const { refused } = decision;
  if (refused.kind === 'mismatch') return 'invalid';
  const named = refused.kind === 'loanState' ? refused.status : 'no loan';
  return named === stateName ? 'rejected' : 'rejected without naming the state';
}

/** A preposition or article before a name that begins with it, as in `está em em_assinatura`. */
const STUTTER = /(?<![\p{L}_])(\p{L}+) \1(?![\p{L}])/u;

describe.each(STAGE_NAMES)('a loan at stage %s', (stage) => {
  const stateName = after(...STAGES[stage])?.status ?? 'no loan';

  test.each(COMMAND_NAMES)('meets %s as the table says', (name) => {
    const decision = given(...STAGES[stage]).when(COMMANDS[name]);
    expect(verdict(decision, stateName)).toBe(expected(stage, name));
    expect(JSON.stringify(decision)).not.toMatch(STUTTER);
  });
});
