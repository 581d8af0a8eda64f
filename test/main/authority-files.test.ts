/** Files without a certificate: OpenSSL would take them for none, and blame the other side's certificate or let it blame ours. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openAnchors } from '../../src/main/service/anchors.ts';
import { openEgress } from '../../src/main/service/egress.ts';
import { createAdapter } from '../../src/registry/adapter.ts';
import type { RegistrySettings } from '../../src/settings/outside-settings.ts';
import { NO_CERTIFICATE } from '../../src/settings/pem.ts';
import { makeAuthority } from '../support/certificates.ts';
import { REGISTRY_SETTINGS } from '../support/registry-settings.ts';
import { silentLog } from '../support/silent-log.ts';
import { makeTestFolder } from '../support/test-folder.ts';

/** A file that is there, and no certificate. */
const caFile = new URL(import.meta.url).pathname;

const NONE = readConfig({});
const QUESTION = {
  queryId: 'q',
  partnerId: 'p',
  workerCpf: '52998224725',
  employerCnpj: '11222333000181',
  requestId: 'r',
};

const folder = await makeTestFolder();
const empty = path.join(folder.path, 'empty');
await writeFile(empty, '');
const { cert } = makeAuthority().issue(['carteiro.test']);
const certFile = path.join(folder.path, 'cert.pem');
await writeFile(certFile, cert);

const askRegistry = (files: Partial<RegistrySettings>) =>
  createAdapter({ ...REGISTRY_SETTINGS, url: 'https://127.0.0.1:9', ...files }).queryMargin(
    QUESTION,
    new AbortController().signal,
  );

test.each([
  [
    'EGRESS_CERT_FILE',
    NO_CERTIFICATE,
    () => openEgress({ ...NONE, egressCertFile: empty, egressKeyFile: empty }, silentLog),
  ],
  [
    'EGRESS_KEY_FILE',
    'is empty',
    () => openEgress({ ...NONE, egressCertFile: certFile, egressKeyFile: empty }, silentLog),
  ],
  ['REGISTRY_CERT_FILE', NO_CERTIFICATE, () => askRegistry({ certFile: empty, keyFile: empty })],
  ['REGISTRY_KEY_FILE', 'is empty', () => askRegistry({ certFile, keyFile: empty })],
])('an empty %s is refused by its name: we would show no certificate', async (setting, fault, open) => {
  await expect(open()).rejects.toThrow(`${setting} ${fault}`);
});

test.each([
  [
    'ANCHOR_TIMESTAMP_CA_FILE',
    () => openAnchors({ ...NONE, anchorTimestampUrl: 'http://127.0.0.1:9/', anchorTimestampCaFile: caFile }),
  ],
  ['EGRESS_CA_FILE', () => openEgress({ ...NONE, egressCaFile: caFile }, silentLog)],
  ['REGISTRY_CA_FILE', () => askRegistry({ caFile })],
])('the file of %s that holds no certificate is refused by the name of its setting', async (setting, open) => {
  await expect(open()).rejects.toThrow(new RegExp(`${setting}:? holds no certificate in PEM`));
});
