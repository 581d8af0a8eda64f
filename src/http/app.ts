/** The API. A path that exists refuses every other method with 405, token or none; a path that does not exist is 404. */
import { type Context, Hono } from 'hono';
import { inLanguage, type Language } from '../contract/language.ts';
import { ApiError } from './api-error.ts';
import type { HttpDeps } from './deps.ts';
import { type Env, logRequests, traceRequests } from './request.ts';
import { answerError } from './errors.ts';
import { createGate } from './gate.ts';
import { describeApi } from './openapi/document.ts';
import { DESCRIPTION_PATHS } from './openapi/texts.ts';
import { guarded, type Operation, type Route } from './operation.ts';
import type { Routes } from './route.ts';
import { alertRoutes } from './routes/alerts.ts';
import { auditVerdictRoutes } from './routes/audit-verdicts.ts';
import { auditListRoutes } from './routes/audit-lists.ts';
import { registryRoutes } from './routes/bonds.ts';
import { conformanceRoutes } from './routes/conformance.ts';
import { deliveryListRoutes } from './routes/deliveries.ts';
import { deliveryRoutes } from './routes/delivery.ts';
import { answerDescription, answerListen, answerMetrics, answerReady, answerRoot, LISTEN_PATH } from './routes/open.ts';
import { documentRoutes } from './routes/documents.ts';
import { egressRoutes } from './routes/egress.ts';
import { eventRoutes } from './routes/events.ts';
import { evidenceRoutes } from './routes/evidence.ts';
import { loanRoutes } from './routes/loans.ts';
import { nucleusRoutes } from './routes/nucleus.ts';
import { operatorPartnerRoutes } from './routes/operator-partners.ts';
import { operatorQueueRoutes } from './routes/operator-queue.ts';
import { operatorWebhookRoutes } from './routes/operator-webhooks.ts';
import { summaryRoutes, webhookHealthRoutes, webhookHistoryRoutes } from './routes/webhook-health.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { webhookSettingRoutes } from './routes/webhook-settings.ts';
import { webhookSecretRoutes } from './routes/webhook-secrets.ts';
import { webhookSendRoutes } from './routes/webhook-sends.ts';

type Handler = (c: Context<Env>) => Response | Promise<Response>;

/** In the order in which the description lists them. */
const ROUTES: Routes = [
  ...webhookRoutes,
  ...webhookSecretRoutes,
  ...webhookSendRoutes,
  ...conformanceRoutes,
  ...webhookHealthRoutes,
  ...webhookSettingRoutes,
  ...webhookHistoryRoutes,
  ...egressRoutes,
  ...alertRoutes,
  ...deliveryListRoutes,
  ...deliveryRoutes,
  ...summaryRoutes,
  ...eventRoutes,
  ...loanRoutes,
  ...documentRoutes,
  ...registryRoutes,
  ...auditListRoutes,
  ...auditVerdictRoutes,
  ...operatorQueueRoutes,
  ...operatorWebhookRoutes,
  ...operatorPartnerRoutes,
  ...nucleusRoutes,
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
  const on = (method: string, path: string, handler: Handler): string => {
    const routed = path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(method.toUpperCase(), routed, handler);
    return routed;
  };
  const addRoute = (method: string, path: string, handler: Handler) => {
    const routed = on(method, path, (c) => {
      c.set('route', path);
      return handler(c);
    });
    methods.set(routed, [...(methods.get(routed) ?? []), method.toUpperCase()]);
  };
  const gate = createGate(deps);
  const operations: Operation[] = [];
  const add = (route: Route) => {
    const { operation } = route;
    const { method, path } = operation;
    // Its path may have a GET: the route is there to be unknown, not refused as another method would be.
    if (operation.ownCore && deps.loanCore === 'outside') {
      on(method, path, (c) => answer(unknownRoute(), c));
      return;
    }
    operations.push(operation);
    addRoute(method, path, guarded(route, gate, deps));
  };

  addRoute('get', '/', answerRoot);
  addRoute('get', '/healthz', (c) => c.json({ status: 'ok' }));
  addRoute('get', '/readyz', answerReady(deps));
  if (deps.showsMetrics) addRoute('get', '/metrics', answerMetrics(deps));
  for (const [path, answerEvidence] of Object.entries(evidenceRoutes(deps))) addRoute('get', path, answerEvidence);
  addRoute('get', LISTEN_PATH, answerListen());
  for (const one of [...ROUTES, ...(deps.sandbox ?? [])]) add(typeof one === 'function' ? one(deps) : one);

  for (const [language, path] of Object.entries(DESCRIPTION_PATHS) as [Language, string][]) {
    addRoute(
      'get',
      path,
      answerDescription((audience) => inLanguage(describeApi(operations, audience), language)),
    );
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
