/** Certificates that we show others: read from their files, told with signs of life, and seen by whoever operates. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import type { Queue } from '../../../src/contract/resources/operator.ts';
import { checkCertificates } from '../../../src/main/operations/doctor-maintenance.ts';
import { heartbeat } from '../../../src/main/operations/heartbeat.ts';
import { measureProcesses } from '../../../src/main/operations/measure-installation.ts';
import { readCertificateEnds } from '../../../src/main/operations/heartbeat.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { startPainelWorld } from '../../support/painel.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

const DAY_MS = 86_400_000;
const world = await startPainelWorld();
const { sql } = world.api.database;
const self = { name: 'um', role: 'poller', host: 'h', keys: [] } as const;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

test('each file that a setting names is read; one that cannot be is left out', async () => {
  const folder = await makeTestFolder();
  const file = path.join(folder.path, 'cert.pem');
  // Good until a day after the time that is given.
  await writeFile(file, makeAuthority().issue(['a'], Date.parse('2030-01-01T00:00:00Z')).cert);
  const gone = path.join(folder.path, 'gone');
  const config = readConfig({
    EGRESS_CERT_FILE: file,
    EGRESS_KEY_FILE: file,
    REGISTRY_CERT_FILE: gone,
    REGISTRY_KEY_FILE: gone,
    ANCHOR_TIMESTAMP_URL: 'http://tsa.example/',
    ANCHOR_TIMESTAMP_CERT_FILE: file,
    ANCHOR_TIMESTAMP_KEY_FILE: file,
  });
  const end = '2030-01-02T00:00:00.000Z';
  expect(await readCertificateEnds(config)).toEqual({ EGRESS_CERT_FILE: end, ANCHOR_TIMESTAMP_CERT_FILE: end });
});

test('the doctor warns 21 days before, and metrics, API and page show the first end of each', async () => {
  expect(await checkCertificates(sql)).toMatchObject([{ verdict: 'ok' }]);
  const soon = inDays(20);
  await heartbeat(sql, { ...self, certificates: { EGRESS_CERT_FILE: soon, REGISTRY_CERT_FILE: inDays(300) } });
  await heartbeat(sql, { ...self, name: 'dois', certificates: { EGRESS_CERT_FILE: inDays(40) } });
  await heartbeat(sql, { ...self, name: 'três', certificates: { ANCHOR_TIMESTAMP_CERT_FILE: inDays(-1) } });
  expect((await checkCertificates(sql)).map(({ verdict, found }) => [verdict, found.split(' ')[0]])).toEqual([
    ['fault', 'ANCHOR_TIMESTAMP_CERT_FILE'],
    ['warning', 'EGRESS_CERT_FILE'],
    ['ok', 'REGISTRY_CERT_FILE'],
  ]);
  const { ownCertificates = [] } = await measureProcesses(sql);
  const days = ownCertificates.map(({ labels, value }) => [labels?.setting, Math.round(value / 86_400)]);
  expect(days).toEqual([
    ['ANCHOR_TIMESTAMP_CERT_FILE', -1],
    ['EGRESS_CERT_FILE', 20],
    ['REGISTRY_CERT_FILE', 300],
  ]);
  const token = await world.api.token(undefined, ['operador']);
  const { body } = await world.api.send<Queue>('GET', '/v1/operador/fila', { token });
  expect(body.certificados[1]).toEqual({ arquivo: 'EGRESS_CERT_FILE', valido_ate: soon });
  const visitor = await world.signedIn(undefined, ['operador']);
  expect((await visitor.get('/painel/operacao')).text).toMatch(/<code>EGRESS_CERT_FILE<\/code> vale até\s*<time/);

  // Of a process that is gone nothing is told.
  await sql`update processes set seen_at = now() - interval '2 minutes' where name <> 'dois'`;
  expect(await checkCertificates(sql)).toMatchObject([
    { verdict: 'ok', found: expect.stringContaining('EGRESS') as string },
  ]);
});
