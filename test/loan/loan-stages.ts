/** Every stage a loan can stand in, each with the commands that lead there. */
import type { Command } from '../../src/loan/command.ts';
import { COMMANDS, contract, pieces } from './loan-spec.ts';

const internal: Command = COMMANDS.issue;
const requested: Command = { ...internal, issuance: 'assincrona', contract: { ...contract(), numero: 'P-00000001' } };
const grouped: Command = { ...internal, contract: contract('externa', 'agrupada') };
const deferred: Command = { ...internal, contract: contract('externa', 'diferida') };
const ccbAhead: Command = { type: 'deliverPackage', documents: pieces(['ccb_assinada']) };
const {
  concludeIssuance,
  failIssuance,
  concludeSigning,
  deliverPackage,
  deliverMissingDocuments,
  requestRegistration,
  concludeRegistration,
  failRegistration,
  settleDisbursement,
  failDisbursement,
  endBond,
} = COMMANDS;

const internalRegistered = [internal, concludeSigning, requestRegistration, concludeRegistration];
const deferredRegistered = [deferred, requestRegistration, concludeRegistration];

export const STAGES = {
  nothing: [],
  issuing: [requested],
  issued: [requested, concludeIssuance],
  cancelled: [requested, failIssuance],
  'signing, internal': [internal],
  'signing, grouped': [grouped],
  'signing, deferred': [deferred],
  'signed, internal': [internal, concludeSigning],
  'signed, grouped': [grouped, deliverPackage],
  'CCB ahead': [deferred, ccbAhead],
  registering: [internal, concludeSigning, requestRegistration],
  'registering, deferred': [deferred, requestRegistration],
  'registration failed': [internal, concludeSigning, requestRegistration, failRegistration],
  registered: internalRegistered,
  'registered, documents awaited': deferredRegistered,
  'registered, CCB ahead': [deferred, ccbAhead, requestRegistration, concludeRegistration],
  'registered, documents received': [...deferredRegistered, deliverMissingDocuments],
  disbursed: [...internalRegistered, settleDisbursement],
  'disbursed, documents awaited': [...deferredRegistered, settleDisbursement],
  'disbursed, documents received': [...deferredRegistered, settleDisbursement, deliverMissingDocuments],
  'closed while signing': [internal, endBond],
  'closed while registering': [internal, concludeSigning, requestRegistration, endBond],
  'closed while registering, deferred': [deferred, requestRegistration, endBond],
  'closed, then registered': [internal, concludeSigning, requestRegistration, endBond, concludeRegistration],
  'closed while transferring': [...internalRegistered, endBond],
  'closed, transfer failed': [...internalRegistered, endBond, failDisbursement],
  'closed, transfer settled': [...internalRegistered, endBond, settleDisbursement],
  'closed, documents awaited': [...deferredRegistered, settleDisbursement, endBond],
} as const satisfies Record<string, readonly Command[]>;
export type Stage = keyof typeof STAGES;
