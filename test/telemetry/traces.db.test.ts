/** With an SDK attached, a delivery's way from the request to the record is one trace. */
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startDeliveryWorld } from '../support/delivery-world.ts';
import { status } from '../support/receiver.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACE = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

const exporter = new InMemorySpanExporter();

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
const world = await startDeliveryWorld();
const partner = await world.subscriber();
const webhook = await partner.register();
afterAll(async () => {
  trace.disable();
  context.disable();
});
beforeEach(() => {
  world.receiver.answerWith(status(200));
  exporter.reset();
});

async function confirm(headers: Readonly<Record<string, string>>): Promise<void> {
  const token = await world.api.token(partner.id, ['sandbox']);
  const body = { cpf_trabalhador: '52998224725', origem: 'web' };
  await world.api.send('POST', '/v1/sandbox/autorizacoes', { token, body, headers });
  await world.deliver();
}

function span(name: string): ReadableSpan {
  const found = exporter.getFinishedSpans().filter((one) => one.name === name);
  expect(found).toHaveLength(1);
  return found[0] as ReadableSpan;
}

test('request, append and attempt are one trace, which goes on from the caller and to the receiver', async () => {
  await confirm({ traceparent: TRACE });
  const [request, append, attempt] = [span('POST /v1/sandbox/autorizacoes'), span('append'), span('attempt')];
  expect([request, append, attempt].map((one) => one.spanContext().traceId)).toEqual([TRACE_ID, TRACE_ID, TRACE_ID]);
  expect(request.parentSpanContext?.spanId).toBe('00f067aa0ba902b7');
  expect(append.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  expect(attempt.parentSpanContext?.spanId).toBe(append.spanContext().spanId);
  const sent = world.postsTo(webhook.path).at(-1)?.headers['traceparent'];
  expect(sent).toBe(`00-${TRACE_ID}-${attempt.spanContext().spanId}-01`);
  expect(request.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/sandbox/autorizacoes',
    'http.response.status_code': 201,
  });
  expect(append.attributes).toMatchObject({ 'carteiro.evento': 'autorizacao.confirmada' });
});

test('claim and record are of many, and linked with their attempts', async () => {
  await confirm({});
  const [claim, attempt, record] = [span('claim'), span('attempt'), span('record')];
  expect(claim.attributes).toEqual({ 'carteiro.deliveries': 1 });
  expect(attempt.links.map(({ context: linked }) => linked.spanId)).toEqual([claim.spanContext().spanId]);
  expect(record.links.map(({ context: linked }) => linked.spanId)).toEqual([attempt.spanContext().spanId]);
  expect(new Set([claim, attempt, record].map((one) => one.spanContext().traceId)).size).toBe(3);
});

test('an attempt that failed says how, and no span holds a tax id, a secret, a token or a URL', async () => {
  world.receiver.answerWith(status(500));
  await confirm({ traceparent: TRACE });
  const attempt = span('attempt');
  expect(attempt.attributes).toMatchObject({ 'carteiro.resultado': 'resposta_nao_2xx', 'carteiro.attempt': 1 });
  expect(attempt.status.code).toBe(SpanStatusCode.ERROR);
  const reported = JSON.stringify(
    exporter.getFinishedSpans().map(({ name, attributes, events, status: said }) => [name, attributes, events, said]),
  );
  expect(reported).not.toMatch(/52998224725|whsec_|eyJ|127\.0\.0\.1/);
});

test('what orchestrators ask is in no trace', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics']) await world.api.app.request(path);
  expect(exporter.getFinishedSpans()).toEqual([]);
});
