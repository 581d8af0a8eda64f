/** The header `traceparent` of W3C trace context, level 1. */
import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

const SHAPE = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Null for an invalid value; later versions are read as this one. */
export function readTraceparent(text: string | null | undefined): SpanContext | null {
  const [, traceId = '', spanId = '', flags = ''] = SHAPE.exec(text ?? '') ?? [];
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : null;
}

export function writeTraceparent(context: SpanContext): string | null {
  if (!isSpanContextValid(context)) return null;
  return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
}
