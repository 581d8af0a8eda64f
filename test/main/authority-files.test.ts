/** A file of authorities without a certificate: OpenSSL would take it for an empty list, and blame the other side's certificate. */
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openAnchors } from '../../src/main/service/anchors.ts';
import { openEgress } from '../../src/main/service/egress.ts';
import { createAdapter } from '../../src/registry/adapter.ts';
import { REGISTRY_SETTINGS } from '../support/registry-settings.ts';
import { silentLog } from '../support/silent-log.ts';

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

test.each([
  [
    'ANCHOR_TIMESTAMP_CA_FILE',
    () => openAnchors({ ...NONE, anchorTimestampUrl: 'http://127.0.0.1:9/', anchorTimestampCaFile: caFile }),
  ],
  ['EGRESS_CA_FILE', () => openEgress({ ...NONE, egressCaFile: caFile }, silentLog)],
  [
    'REGISTRY_CA_FILE',
    () =>
      createAdapter({ ...REGISTRY_SETTINGS, url: 'https://127.0.0.1:9', caFile }).queryMargin(
        QUESTION,
        new AbortController().signal,
      ),
  ],
])('the file of %s that holds no certificate is refused by the name of its setting', async (setting, open) => {
  await expect(open()).rejects.toThrow(new RegExp(`${setting}:? holds no certificate in PEM`));
});
