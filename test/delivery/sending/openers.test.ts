import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { sign } from '../../../src/delivery/sending/signature.ts';
import { rememberOpened } from '../../../src/delivery/sending/openers.ts';
import { createVault, DecryptionFailed } from '../../../src/webhooks/secrets.ts';

const ID = '01890000-0000-7000-8000-000000000001';
const OTHER_ID = '01890000-0000-7000-8000-000000000002';
const BODY = Buffer.from('{}');

test('a secret is opened once for each webhook and blob, and never for another webhook', () => {
  const vault = createVault([randomBytes(32)]);
  let opened = 0;
  const openSecret = (webhookId: string, blob: Buffer) => {
    opened += 1;
    return vault.decrypt(webhookId, blob);
  };
  const { openKey } = rememberOpened({ openSecret });
  const before = vault.encrypt(ID, 'whsec_YmVmb3Jl');
  const after = vault.encrypt(ID, 'whsec_YWZ0ZXI=');
  const signatures = [before, after, before, after].map((blob) => sign(openKey(ID, Buffer.from(blob)).key, BODY));
  expect(new Set(signatures).size).toBe(2);
  expect(signatures.slice(2)).toEqual(signatures.slice(0, 2));
  expect(sign(openKey(ID, before).key, BODY)).toBe(signatures[0]);
  expect(openKey(ID, before)).toEqual(openKey(ID, before));
  expect(opened).toBe(2);
  expect(() => openKey(OTHER_ID, before)).toThrow(DecryptionFailed);
});
