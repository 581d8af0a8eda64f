/**
 * Spans for those who attach an OpenTelemetry SDK, and the trace that is carried on without one.
 *
 * Without an SDK a span is the interface's own empty one, which holds the context it was given: a `traceparent` that came
 * with a request goes to its events as it is. With one, it is the span's own.
 * The SDK is OpenTelemetry's own (exporting.ts), or what a module loaded with `node --import` registers.
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

/** Asked anew for each span: one that was asked once keeps the SDK that was attached then. */
const tracer = () => trace.getTracer('carteiro', VERSION);

/** What the work of one request carries; the SDK's own context may know nothing of a trace that nobody records here. */
const carried = new AsyncLocalStorage<string>();

/** The trace that what is done now belongs to; null: none. */
export function currentTraceparent(): string | null {
  const span = trace.getActiveSpan();
  return (span === undefined ? null : writeTraceparent(span.spanContext())) ?? carried.getStore() ?? null;
}

function contextOf(traceparent: string | null | undefined): Context | null {
  const remote = readTraceparent(traceparent);
  return remote === null ? null : trace.setSpanContext(ROOT_CONTEXT, remote);
}

/** Runs the work of one request in a span that goes on from its header `traceparent`, if it has one. */
export async function inRequestSpan<T>(
  name: string,
  traceparent: string | undefined,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const parent = contextOf(traceparent) ?? context.active();
  const span = tracer().startSpan(name, { kind: SpanKind.SERVER }, parent);
  const own = writeTraceparent(span.spanContext());
  if (own === null) return work(span);
  return carried.run(own, () => ending(span, () => context.with(trace.setSpan(parent, span), () => work(span))));
}

/** Runs `work` in a span that goes on from a trace that was kept; null: there is none. */
export async function inTrace<T>(name: string, traceparent: string | null, work: () => Promise<T>): Promise<T> {
  return traceparent === null ? work() : carried.run(traceparent, () => inSpan(name, {}, work));
}

/** Runs `work` in a span below the current one; a throw is told in the span. */
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
    // The name alone: messages quote values.
    span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
    throw error;
  } finally {
    span.end();
  }
}

/** An attempt's span: it goes on from the event's trace and is linked to its claim. It is the caller's to end. */
export function startAttempt(traceparent: string | null, claim: SpanContext | undefined): Span {
  const options = claim === undefined ? CLIENT : { ...CLIENT, links: [{ context: claim }] };
  return tracer().startSpan('attempt', options, contextOf(traceparent) ?? ROOT_CONTEXT);
}

const CLIENT = { kind: SpanKind.CLIENT };

/** Ends an attempt's span; `fault` is null where it was delivered. */
export function endAttempt(span: Span, fault: string | null, attributes: () => Attributes): void {
  if (!span.isRecording()) return;
  span.setAttributes(attributes());
  if (fault !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: fault });
  span.end();
}

/**
 * A span of what was done for many at once, from `startedAtMs` (as `performance.now` tells it) to now. Returns its context,
 * undefined where nobody records.
 */
export function tellOf(
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
