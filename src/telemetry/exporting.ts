/**
 * Sends the spans (traces.ts) to a collector by OpenTelemetry's own SDK, configured by its standard variables
 * (`OTEL_EXPORTER_OTLP_ENDPOINT`, `…_HEADERS`, `OTEL_TRACES_SAMPLER`, `OTEL_RESOURCE_ATTRIBUTES`). It is an optional dependency, loaded
 * only with an endpoint.
 */
import { context, trace } from '@opentelemetry/api';
import { VERSION } from '../version.ts';

/** Sends what is left, within the SDK's own time-out. */
export type StopExporting = () => Promise<void>;

/** Null without an endpoint. Throws a sentence where the SDK is not installed. */
export async function startExporting(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<StopExporting | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces } = environment;
  if (!all && !ofTraces) return null;
  const { sdk, exporter, resources, contexts } = await load();
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .resourceFromAttributes({ 'service.name': 'carteiro', 'service.version': VERSION })
      // The operator's name wins.
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())],
  });
  context.setGlobalContextManager(new contexts.AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return () => provider.shutdown();
}

async function load() {
  try {
    const [sdk, exporter, resources, contexts] = await Promise.all([
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/context-async-hooks'),
    ]);
    return { sdk, exporter, resources, contexts };
  } catch (cause) {
    const advice = 'run npm ci without --omit=optional, or unset it';
    throw new Error(`OTEL_EXPORTER_OTLP_ENDPOINT is set and OpenTelemetry's SDK is not installed: ${advice}`, {
      cause,
    });
  }
}
