/**
 * Spans for those who attach an OpenTelemetry SDK (exporting.ts, or a module loaded with `node --import`), and the trace carried on without
 * one. Without an SDK a span is the interface's empty one and keeps its context: a request's `traceparent` goes to its events unchanged.
 * With one, events get the span's own.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { VERSION } from '../version.ts';
import { readTraceparent, writeTraceparent } from './traceparent.ts';

/** Asked for each span: a tracer keeps the SDK that was attached when it was made. */
const tracer = () => trace.getTracer('carteiro', VERSION);

/** What one request's work carries; the SDK's own context may not know a trace that is not recorded here. */
const carried = new AsyncLocalStorage<string>();

/** The current trace; null: none. */
export function currentTraceparent(): string | null {
  const span = trace.getActiveSpan();
  return (span === undefined ? null : writeTraceparent(span.spanContext())) ?? carried.getStore() ?? null;
}

function contextOf(traceparent: string | null | undefined): Context | null {
  const remote = readTraceparent(traceparent);
  return remote === null ? null : trace.setSpanContext(ROOT_CONTEXT, remote);
}

/** Runs one request's work in a span that continues its `traceparent`, if any. */
export async function inRequestSpan<T>(traceparent: string | undefined, work: (span: Span) => Promise<T>): Promise<T> {
  const parent = contextOf(traceparent) ?? context.active();
  const span = tracer().startSpan('request', { kind: SpanKind.SERVER }, parent);
  const own = writeTraceparent(span.spanContext());
  if (own === null) return work(span);
  return carried.run(own, () => ending(span, () => context.with(trace.setSpan(parent, span), () => work(span))));
}

/** Runs `work` in a span that continues a stored trace; null: there is none. */
export async function inTrace<T>(name: string, traceparent: string | null, work: () => Promise<T>): Promise<T> {
  return traceparent === null ? work() : carried.run(traceparent, () => inSpan(name, {}, work));
}

/** Runs `work` in a child span; a throw is recorded there. */
export async function inSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const parent = contextOf(currentTraceparent()) ?? context.active();
  const span = tracer().startSpan(name, { attributes }, parent);
  if (!span.isRecording()) return work();
  return ending(span, () => context.with(trace.setSpan(parent, span), work));
}

async function ending<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The name only: messages quote values.
    span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
    throw error;
  } finally {
    span.end();
  }
}

/** An attempt's span, in the event's trace and linked to its claim. The caller ends it. */
export function startAttempt(traceparent: string | null, claim: SpanContext | undefined): Span {
  const options = claim === undefined ? CLIENT : { ...CLIENT, links: [{ context: claim }] };
  return tracer().startSpan('attempt', options, contextOf(traceparent) ?? ROOT_CONTEXT);
}

const CLIENT = { kind: SpanKind.CLIENT };

/** `fault` is null if it was delivered. */
export function endAttempt(span: Span, fault: string | null, attributes: () => Attributes): void {
  if (!span.isRecording()) return;
  span.setAttributes(attributes());
  if (fault !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: fault });
  span.end();
}

/**
 * A span of work for many at once, from `startedAtMs` (as `performance.now`) to now. Returns its context, undefined without a recorder.
 */
export function recordSpan(
  name: string,
  startedAtMs: number,
  attributes: Attributes,
  parts: () => readonly (SpanContext | undefined)[] = () => [],
): SpanContext | undefined {
  const span = tracer().startSpan(name, { startTime: startedAtMs }, ROOT_CONTEXT);
  if (!span.isRecording()) return undefined;
  span.setAttributes(attributes);
  span.addLinks(
    parts()
      .filter((part) => part !== undefined)
      .map((part) => ({ context: part })),
  );
  span.end();
  return span.spanContext();
}
