/** Spans of real processes, in the hands of a collector; and nothing of the SDK in a process without one. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { startExporting } from '../../src/telemetry/exporting.ts';
import { createTestDatabase } from '../support/database.ts';
import { listening } from '../support/listening.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly { readonly name: string }[] }[];
  }[];
}

test(
  'a poller with OTEL_EXPORTER_OTLP_ENDPOINT sends its spans under its service name',
  { timeout: 120_000 },
  async () => {
    const sent: Sent[] = [];
    const collector = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        if (request.url === '/v1/traces') sent.push(JSON.parse(Buffer.concat(parts).toString()) as Sent);
        response.end('{}');
      });
    });
    const [database, receiver] = [await createTestDatabase(), await startReceiver()];
    const partnerId = await insertPartner(database.sql);
    await insertEncryptedWebhook(database.sql, partnerId, `${receiver.url}/`);
    const endpoint = `http://127.0.0.1:${await listening(collector)}`;
    const poller = await startPollerProcess(database.url, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    await commitEvents(database.sql, partnerId, 1);
    await receiver.received(1);
    expect(await poller.end('SIGTERM')).toBe(0);
    const all = sent.flatMap(({ resourceSpans }) => resourceSpans);
    const names = all.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)));
    expect(new Set(names)).toEqual(new Set(['claim', 'attempt', 'record']));
    const attributes = all[0]?.resource.attributes ?? [];
    expect(attributes.find(({ key }) => key === 'service.name')?.value.stringValue).toBe('carteiro');
  },
);

test('without an endpoint nothing is started', async () => {
  expect(await startExporting({})).toBeNull();
});
