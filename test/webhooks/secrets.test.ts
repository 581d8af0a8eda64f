import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createVault, keyIdOf, newSecret, DecryptionFailed } from '../../src/webhooks/secrets.ts';

const ID = '0198a000-0000-7000-8000-000000000001';
const OTHER_ID = '0198a000-0000-7000-8000-000000000002';

describe('a new secret', () => {
  test('is whsec_ and the base64 of 32 bytes', () => {
    const secret = newSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  });

  test('is another each time', () => {
    expect(new Set(Array.from({ length: 100 }, newSecret)).size).toBe(100);
  });
});

describe('an encrypted secret', () => {
  const key = randomBytes(32);
  const vault = createVault([key]);

  test('opens for its own webhook and names the key', () => {
    const secret = newSecret();
    expect(vault.decrypt(ID, vault.encrypt(ID, secret))).toEqual({ secret, keyId: keyIdOf(key) });
  });

  test('is key id, iv, tag and ciphertext, and shows nothing of the secret', () => {
    const secret = newSecret();
    const blob = vault.encrypt(ID, secret);
    expect(blob).toHaveLength(8 + 12 + 16 + secret.length);
    expect(blob.subarray(0, 8).toString()).toBe(keyIdOf(key));
    expect(blob.includes(secret.slice(0, 10))).toBe(false);
  });

  test('encrypted twice gives two blobs', () => {
    expect(vault.encrypt(ID, 'whsec_x').equals(vault.encrypt(ID, 'whsec_x'))).toBe(false);
  });

  test('does not open for another webhook', () => {
    expect(() => vault.decrypt(OTHER_ID, vault.encrypt(ID, newSecret()))).toThrow(DecryptionFailed);
  });

  test('does not open after any byte of it changed, and the error shows no secret', () => {
    const secret = newSecret();
    const blob = vault.encrypt(ID, secret);
    for (let index = 0; index < blob.length; index += 1) {
      const altered = Buffer.from(blob);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      const error = caught(() => vault.decrypt(ID, altered));
      expect(error).toBeInstanceOf(DecryptionFailed);
      expect(String(error)).not.toContain(secret.slice(6, 16));
    }
  });

  test('does not open when it was cut short', () => {
    const blob = vault.encrypt(ID, newSecret());
    for (const length of [0, 8, 36, blob.length - 1]) {
      expect(() => vault.decrypt(ID, blob.subarray(0, length))).toThrow(DecryptionFailed);
    }
  });
});

describe('a key ring', () => {
  test('encrypts with its first key and opens with every one', () => {
    const [older, newer] = [randomBytes(32), randomBytes(32)];
    const before = createVault([older]).encrypt(ID, 'whsec_old');
    const rotated = createVault([newer, older]);
    expect(rotated.decrypt(ID, before)).toEqual({ secret: 'whsec_old', keyId: keyIdOf(older) });
    expect(rotated.decrypt(ID, rotated.encrypt(ID, 'whsec_new')).keyId).toBe(keyIdOf(newer));
  });

  test('does not open what a key outside of it encrypted', () => {
    const blob = createVault([randomBytes(32)]).encrypt(ID, 'whsec_x');
    expect(() => createVault([randomBytes(32)]).decrypt(ID, blob)).toThrow('no key of the ring');
  });

  test('needs at least one key, of 32 bytes', () => {
    expect(() => createVault([])).toThrow('empty');
    expect(() => createVault([randomBytes(16)])).toThrow('32 bytes');
  });
});

function caught(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}
