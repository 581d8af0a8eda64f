/** `…/homologacao`: a webhook's receiver is tried from outside, and the signed report of it. */
import { z } from 'zod';
import { readReport, readRuns, type Run, stateOf, RUNS_KEPT } from '../../conformance/runs.ts';
import { detailOf, titleOf } from '../../conformance/report.ts';
import { begunConformance, conformance, conformanceList } from '../../contract/conformance.ts';
import type { Language } from '../../contract/language.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { id } from '../../contract/values.ts';
import { readWebhook } from '../../webhooks/webhooks.ts';
import { answered, BodyStream } from '../answer.ts';
import { route, type Routes } from '../route.ts';

const PATH = '/v1/webhooks/{id}/homologacao';
const REPORT_TYPE = 'text/plain';

const DESCRIPTION = {
  pt: `Envia a este webhook cerca de 45 POSTs assinados, uns certos e outros errados, com X-Webhook-Test: 1 e ids que nenhum empréstimo tem, e julga o que o receptor responde; dura pouco mais de um minuto, e no máximo cinco. Se a primeira entrega não for aceita, quase nada mais é enviado. Não é entrega nem evento: nada disso está no fluxo, nas listas nem no balanço. Uma por vez por webhook; as ${RUNS_KEPT} mais novas são guardadas.`,
  en: `Sends this webhook some 45 signed POSTs, right ones and wrong ones, with X-Webhook-Test: 1 and ids that no loan has, and judges what the receiver answers; it takes a little over a minute, and five at most. Where the first delivery is not accepted, hardly anything more is sent. It is neither a delivery nor an event: none of it is in the feed, the lists or the balance. One at a time for a webhook; the newest ${RUNS_KEPT} are kept.`,
};
const language = z
  .strictObject({ idioma: z.enum(['pt', 'en']).optional() })
  .meta({ text: { pt: 'O idioma dos textos; sem ele, pt', en: 'The language of the texts; pt without it' } });

export const conformanceRoutes: Routes = [
  route(`POST ${PATH}`, 'webhooks:write', {
    since: '0.4',
    summary: { pt: 'Começa a homologação do receptor', en: "Begins to try the webhook's receiver from outside" },
    description: DESCRIPTION,
    body: z.strictObject({}),
    isBodyOptional: true,
    answers: answered(202, begunConformance, { pt: 'Começou', en: 'It has begun' }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ partnerId, id: webhookId, actor }, { conformance: runs }) => {
    const begun = await runs.start({ partnerId, webhookId, actor });
    return 'refused' in begun ? begun : { status: 202, body: { homologacao_id: begun.ok.id } };
  }),
  route(`GET ${PATH}`, 'webhooks:read', {
    since: '0.4',
    summary: {
      pt: 'As homologações de um webhook, a mais nova primeiro',
      en: 'The runs of a webhook, the newest first',
    },
    answers: answered(200, conformanceList, { pt: 'As homologações', en: 'The runs' }),
  })(async ({ partnerId, id: webhookId }, { pool }) => {
    if ((await readWebhook(pool, partnerId, webhookId)) === null) return NOT_FOUND;
    const runs = await readRuns(pool, partnerId, webhookId);
    const itens = runs.map((run) => Object.assign(lineOf(run), { homologacao_id: run.id, pedida_por: run.actor }));
    return { status: 200, body: { itens } };
  }),
  route(`GET ${PATH}/{hid}`, 'webhooks:read', {
    since: '0.4',
    summary: { pt: 'Uma homologação, com cada verificação', en: 'A run, with each of its checks' },
    description: {
      pt: 'detalhe diz o que foi enviado, o que veio, e, onde falhou, como corrigir. aprovada: nada falhou; reprovada: algo falhou; interrompida: o serviço parou durante ela, ou os cinco minutos acabaram, e não há veredito.',
      en: 'detalhe says what was sent, what came, and, where it failed, how to mend it. aprovada: nothing failed; reprovada: something did; interrompida: the service stopped meanwhile, or the five minutes were over, and there is no verdict.',
    },
    params: { hid: id },
    query: language,
    answers: answered(200, conformance, { pt: 'A homologação', en: 'The run' }),
  })(async ({ partnerId, id: webhookId, params: { hid }, query: { idioma = 'pt' } }, { pool }) => {
    const run = (await readRuns(pool, partnerId, webhookId)).find((one) => one.id === hid);
    return run === undefined
      ? NOT_FOUND
      : { status: 200, body: { ...lineOf(run), verificacoes: checksOf(run, idioma) } };
  }),
  route(`GET ${PATH}/{hid}/relatorio`, 'webhooks:read', {
    since: '0.4',
    summary: { pt: 'O relatório assinado de uma homologação', en: 'The signed report of a run' },
    description: {
      pt: 'Uma linha de JSON canônico (RFC 8785), uma linha vazia e a assinatura pela chave dos checkpoints, como uma nota C2SP; relatorio_sha256 é o SHA-256 do arquivo. As chaves públicas estão em /.well-known/carteiro-checkpoint-keys. 404 até a homologação terminar.',
      en: "One line of canonical JSON (RFC 8785), an empty line and the signature by the checkpoints' key, as a C2SP note; relatorio_sha256 is the file's SHA-256. The public keys are at /.well-known/carteiro-checkpoint-keys. 404 until the run has ended.",
    },
    params: { hid: id },
    answers: {
      200: {
        description: { pt: 'O relatório', en: 'The report' },
        fileTypes: [REPORT_TYPE],
        headers: { 'Content-Disposition': { pt: 'O nome do arquivo', en: "The file's name" } },
      },
    },
  })(async ({ partnerId, id: webhookId, params: { hid } }, { pool }) => {
    const report = await readReport(pool, partnerId, webhookId, hid);
    if (report === null) return NOT_FOUND;
    const headers = { 'Content-Disposition': `attachment; filename="homologacao-${hid}.txt"` };
    return { status: 200, headers, body: new BodyStream(`${REPORT_TYPE};charset=utf-8`, piecesOf(report)) };
  }),
];

async function* piecesOf(text: string): AsyncGenerator<string> {
  yield text;
}

function lineOf(run: Run) {
  return {
    estado: stateOf(run),
    inicio: run.startedAt.toISOString(),
    fim: run.endedAt?.toISOString() ?? null,
    relatorio_sha256: run.reportSha256,
  };
}

const checksOf = ({ checks }: Run, idioma: Language) =>
  checks.map((one) => ({
    codigo: one.code,
    titulo: titleOf(one.code)[idioma],
    resultado: one.verdict,
    detalhe: detailOf(one)[idioma],
  }));
