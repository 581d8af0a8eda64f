/**
 * The API: every operation behind its gate, one answer for every failure.
 *
 * A path that exists refuses every other method with 405, token or none; a path that does not exist is 404.
 */
import { type Context, Hono } from 'hono';
import { inLanguage, type Language } from '../contract/language.ts';
import { ApiError } from './api-error.ts';
import type { HttpDeps } from './deps.ts';
import type { Env } from './request-env.ts';
import { answerError } from './errors.ts';
import { createGate } from './gate.ts';
import { describeApi } from './openapi/document.ts';
import { type AddOperation, type AnyRespond, guarded, type Operation } from './operation.ts';
import { logRequests } from './request-log.ts';
import { traceRequests } from './request-trace.ts';
import { addAlertRoutes } from './routes/alerts.ts';
import { addAuditBalanceRoutes } from './routes/audit-balance.ts';
import { addAuditListRoutes } from './routes/audit-lists.ts';
import { addAuditProofRoutes } from './routes/audit-proof.ts';
import { addAuditVerdictRoutes } from './routes/audit-verdicts.ts';
import { addBondRoutes } from './routes/bonds.ts';
import { answerDescription, DESCRIPTION_PATHS } from './routes/description.ts';
import { addDeliveryListRoutes } from './routes/deliveries.ts';
import { addDeliveryRoutes } from './routes/delivery.ts';
import { addDocumentRoutes } from './routes/documents.ts';
import { answerAlive, answerMetrics, answerReady } from './routes/health.ts';
import { addEgressRoutes } from './routes/egress.ts';
import { namedEvidenceRoutes } from './routes/evidence.ts';
import { addEventRoutes } from './routes/events.ts';
import { addLoanListRoutes } from './routes/loan-lists.ts';
import { addLoanRoutes } from './routes/loans.ts';
import { addMarginRoutes } from './routes/margin.ts';
import { addNucleusRoutes } from './routes/nucleus.ts';
import { addOperatorPartnerRoutes } from './routes/operator-partners.ts';
import { addOperatorWorkerRoutes } from './routes/operator-workers.ts';
import { addOperatorQueueRoutes } from './routes/operator-queue.ts';
import { addOperatorWebhookRoutes } from './routes/operator-webhooks.ts';
import { answerRoot } from './routes/root.ts';
import { answerListen, LISTEN_PATH } from './routes/tools.ts';
import { addSummaryRoutes } from './routes/summary.ts';
import { addWebhookChangeRoutes } from './routes/webhook-changes.ts';
import { addWebhookHealthRoutes } from './routes/webhook-health.ts';
import { addWebhookHistoryRoutes } from './routes/webhook-history.ts';
import { addWebhookOptionRoutes } from './routes/webhook-options.ts';
import { addWebhookSecretRoutes } from './routes/webhook-secrets.ts';
import { addWebhookSendRoutes } from './routes/webhook-sends.ts';
import { addWebhookTestRoutes } from './routes/webhook-test.ts';
import { addWebhookRoutes } from './routes/webhooks.ts';

type Route = Readonly<Record<'method' | 'path', string>>;
type Handler = (c: Context<Env>) => Response | Promise<Response>;

/** In the order in which the description lists them. */
const ROUTES: readonly ((add: AddOperation, deps: HttpDeps) => void)[] = [
  addWebhookRoutes,
  addWebhookChangeRoutes,
  addWebhookSecretRoutes,
  addWebhookSendRoutes,
  addWebhookTestRoutes,
  addWebhookHealthRoutes,
  addWebhookOptionRoutes,
  addWebhookHistoryRoutes,
  addEgressRoutes,
  addAlertRoutes,
  addDeliveryListRoutes,
  addDeliveryRoutes,
  addSummaryRoutes,
  addEventRoutes,
  addLoanRoutes,
  addLoanListRoutes,
  addDocumentRoutes,
  addMarginRoutes,
  addBondRoutes,
  addAuditListRoutes,
  addAuditBalanceRoutes,
  addAuditProofRoutes,
  addAuditVerdictRoutes,
  addOperatorQueueRoutes,
  addOperatorWebhookRoutes,
  addOperatorPartnerRoutes,
  addOperatorWorkerRoutes,
  addNucleusRoutes,
];

export function createApp(deps: HttpDeps): Hono<Env> {
  const app = new Hono<Env>();
  app.use(traceRequests());
  app.use(logRequests(deps.log, deps.metrics));
  const answer = answerError(deps.log);
  app.onError(answer);
  // Answered rather than thrown: hono runs this outside of the frame that would catch it before the log line.
  const unknownRoute = () => new ApiError('NAO_ENCONTRADO', 'rota não encontrada');
  app.notFound((c) => answer(unknownRoute(), c));

  const methods = new Map<string, string[]>();
  const on = ({ method, path }: Route, handler: Handler): string => {
    const routed = path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(method.toUpperCase(), routed, handler);
    return routed;
  };
  const addRoute = (method: string, path: string, handler: Handler) => {
    const routed = on({ method, path }, handler);
    methods.set(routed, [...(methods.get(routed) ?? []), method.toUpperCase()]);
  };
  const gate = createGate(deps);
  const operations: Operation[] = [];
  const add: AddOperation = (operation, respond) => {
    // Its path may have a GET: the route is there to be unknown, not refused as another method would be.
    if (operation.ownCore && deps.loanCore === 'outside') {
      on(operation, (c) => answer(unknownRoute(), c));
      return;
    }
    operations.push(operation);
    addRoute(operation.method, operation.path, guarded(operation, gate, respond as AnyRespond));
  };

  addRoute('get', '/', answerRoot);
  addRoute('get', '/healthz', answerAlive);
  addRoute('get', '/readyz', answerReady(deps));
  addRoute('get', '/metrics', answerMetrics(deps));
  for (const [path, answerEvidence] of namedEvidenceRoutes(deps)) addRoute('get', path, answerEvidence);
  addRoute('get', LISTEN_PATH, answerListen());
  for (const addRoutes of ROUTES) addRoutes(add, deps);
  deps.sandbox?.(add, deps);

  for (const [language, path] of Object.entries(DESCRIPTION_PATHS) as [Language, string][]) {
    const describe = () => inLanguage(describeApi(operations), language);
    addRoute('get', path, answerDescription(path, describe));
  }

  for (const [path, known] of methods) app.all(path, refuseMethod(path, known));
  return app;
}

function refuseMethod(path: string, known: readonly string[]) {
  const allow = known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return (c: Context<Env>): never => {
    c.set('route', path);
    throw new ApiError('METODO_NAO_PERMITIDO', `este caminho aceita ${allow}`, { headers: { Allow: allow } });
  };
}
