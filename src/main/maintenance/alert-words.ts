/** What an alert says: a title and a text, of the webhook's host and never the rest of its URL. Pure. */
import { adviceOf } from '../../webhooks/advice.ts';
import { ALERT_CODE_H, type AlertKind, type LossKind } from '../../contract/statuses.ts';
import { ENDS_SOON_DAYS } from '../../webhooks/alert-collect.ts';
import type { DueAlert } from '../../webhooks/alert-queue.ts';
import { type Loss, LOSSES_COUNTED } from '../../webhooks/losses.ts';

export interface AlertWords {
  readonly title: string;
  readonly text: string;
}

const day = (at: Date | null) => at?.toISOString() ?? '–';
const isSoon = (at: Date | null) => at !== null && at.getTime() - Date.now() <= ENDS_SOON_DAYS * 86_400_000;

type Said = readonly [title: string, text: string];

const WORDS: Readonly<Record<Exclude<AlertKind, LossKind>, (webhook: string, alert: DueAlert) => Said>> = {
  falhando: (webhook) => [
    `${webhook} falhando`,
    `O ${webhook} falha há horas. Ele recebe uma entrega por vez até responder bem; nada se perde.`,
  ],
  suspensao: (webhook) => [
    `${webhook} suspenso`,
    `O ${webhook} foi desativado porque falhava há dias. O que estava pendente fica guardado até você o reativar.`,
  ],
  fim_da_falha: (webhook) => [`${webhook} voltou`, `O ${webhook} deixou o estado de falha.`],
  fim_do_segredo: (webhook, { happenedAt }) => [
    `o secret anterior do ${webhook} acaba`,
    `O secret anterior do ${webhook} deixa de assinar em ${happenedAt.toISOString()}. Confira que o receptor já verifica pelo novo.`,
  ],
  resposta_estranha: (webhook) => [
    `${webhook} responde estranho`,
    `As últimas respostas 2xx do ${webhook} são páginas HTML ou grandes demais: talvez um proxy ou uma página de login responda no lugar do receptor, e nada seja processado. Cada entrega conta como entregue. Confira a URL, e reenvie o que faltar.`,
  ],
  certificado: (webhook, { url, receiverUntil, ownUntil, oursUntil }) => {
    if (url === null)
      return [
        'o nosso certificado vence',
        `O certificado com que o Carteiro se mostra aos receptores que pedem um (TLS mútuo) vence em ${day(oursUntil)}. Se o seu gateway o fixa, peça o novo à operação antes.`,
      ];
    const ends = [
      ['O certificado do receptor, ou um da sua cadeia,', receiverUntil],
      ['O certificado de cliente que você cadastrou', ownUntil],
    ] as const;
    const said = ends.filter(([, until]) => isSoon(until)).map(([what, until]) => `${what} vence em ${day(until)}.`);
    return [
      `um certificado do ${webhook} vence`,
      `${said.join(' ')} Renove-o antes: depois as entregas ao ${webhook} falham com erro_tls.`,
    ];
  },
  mudanca: (webhook, { url, happenedAt }) =>
    url === null
      ? [
          'os avisos mudaram',
          `Os endereços dos avisos foram trocados em ${happenedAt.toISOString()}. Se não foi você, confira quem tem tokens do parceiro.`,
        ]
      : [
          `${webhook} mudado`,
          `A URL, o secret ou as credenciais do ${webhook} mudaram em ${happenedAt.toISOString()}. Se não foi você, confira quem tem tokens do parceiro.`,
        ],
  silenciado: (webhook) => [
    `${webhook} silenciado`,
    `A operação parou os envios ao ${webhook}. As entregas esperam e nada se perde; fale com ela antes de contar com eventos novos.`,
  ],
  confirmacao: (_webhook, { code }) => [
    'código para confirmar este endereço',
    `O código é ${code}. Alguém pediu que os avisos dos webhooks de um parceiro venham para cá. Confirme com ele na página de avisos, ou por POST /v1/alertas/confirmacao, em ${ALERT_CODE_H} h. Se não foi você, ignore: nada mais é enviado.`,
  ],
  teste: () => ['aviso de teste', 'Este é um aviso de teste: os avisos dos seus webhooks chegam aqui.'],
};

/** `publicUrl` is where browsers find the page. */
export function wordsOf(alert: DueAlert, loss: Loss | null, publicUrl: URL | null): AlertWords {
  const { url, label, subject, kind } = alert;
  const host = url === null ? '' : new URL(url).host;
  const webhook = label === null ? `webhook em ${host}` : `webhook ${label} (${host})`;
  const [title, text] =
    kind === 'atraso' || kind === 'erro' ? sayLoss(kind, webhook, loss as Loss) : WORDS[kind](webhook, alert);
  const since = loss === null ? '' : `?desde=${encodeURIComponent(loss.createdAt.toISOString())}`;
  const page =
    url === null
      ? `/painel${kind === 'teste' ? '' : '/avisos'}`
      : `/painel/webhooks/${subject}${kind === 'erro' ? `/recuperar${since}` : ''}`;
  return { title: `Carteiro: ${title}`, text: publicUrl === null ? text : `${text}\n${new URL(page, publicUrl).href}` };
}

function sayLoss(kind: LossKind, webhook: string, loss: Loss): Said {
  const { count, event, loan, deliveryId, createdAt, outcome, statusCode } = loss;
  const many = count > LOSSES_COUNTED ? `mais de ${LOSSES_COUNTED}` : String(count);
  const deliveries = count === 1 ? 'uma entrega' : `${many} entregas`;
  const what =
    kind === 'erro'
      ? `${deliveries} em erro: todas as tentativas falharam, e nada mais é enviado até você reenviar`
      : `${deliveries} em atraso: a quarta tentativa falhou, e as próximas saem em 1 h e 6 h`;
  const advice = outcome === 'entregue' ? null : adviceOf(outcome, statusCode);
  const of = loan === null ? '' : `, empréstimo ${loan}`;
  return [
    `${deliveries} ${kind === 'erro' ? 'em erro' : 'em atraso'}, ${webhook}`,
    [
      `O ${webhook} tem ${what}.`,
      `Primeira: ${event}${of}, de ${createdAt.toISOString()}, entrega ${deliveryId}.`,
      ...(advice === null ? [] : [`Causa: ${advice.cause.pt}. ${advice.next.pt}`]),
    ].join('\n'),
  ];
}
