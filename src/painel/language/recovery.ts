import type { Bilingual } from '../../contract/language.ts';
import type { Words } from './words.ts';

export const recovery = {
  alerts: {
    title: { pt: 'Avisos a pessoas', en: 'Alerts to people' },
    intro: {
      pt: 'Quem é avisado de entregas em atraso (quarta falha) e em erro, de webhooks que falham, são suspensos, silenciados ou voltam, de respostas estranhas, de certificados e secrets que vencem, e de mudanças de URL, secret e avisos.',
      en: 'Who is told of late deliveries (fourth failure) and lost ones, of webhooks that fail, are suspended, muted or well again, of strange answers, of certificates and secrets that end, and of changes of URL, secret and alerts.',
    },
    waiting: {
      pt: (where: string) =>
        `Mandamos um código a ${where}. Nada mais é enviado ali até você o confirmar, em 24 horas.`,
      en: (where: string) =>
        `We sent a code to ${where}. Nothing more goes there until you confirm it, within 24 hours.`,
    },
    code: { pt: 'Código', en: 'Code' },
    confirm: { pt: 'Confirmar', en: 'Confirm' },
    changes: { pt: 'Mudanças dos avisos', en: 'Changes of the alerts' },
    author: { pt: 'Por quem', en: 'By whom' },
    email: { pt: 'E-mail', en: 'E-mail' },
    noMail: { pt: 'O operador não configurou um servidor de e-mail.', en: 'The operator has set no mail server.' },
    slack: { pt: 'URL de chat, como as do Slack', en: 'URL of a chat, like those of Slack' },
    slackHint: {
      pt: 'Recebe {"text": …} por POST. O aviso diz o webhook e o que fazer, e nada de um trabalhador.',
      en: 'It takes {"text": …} by POST. The alert tells the webhook and what to do, and nothing of a worker.',
    },
    slackNow: {
      pt: (origin: string) => `Agora: ${origin}/… A URL não é mostrada de novo; em branco, fica como está.`,
      en: (origin: string) => `Now: ${origin}/… The URL is not shown again; left empty, it stays as it is.`,
    },
    noChat: { pt: 'Não avisar mais ali', en: 'Tell nobody there any more' },
    newest: { pt: 'Os mais novos', en: 'The newest' },
    kind: { pt: 'Aviso', en: 'Alert' },
    channel: { pt: 'Canal', en: 'Channel' },
    done: {
      salvo: { pt: 'Salvo.', en: 'Saved.' },
      confirmado: { pt: 'O endereço está confirmado.', en: 'The address is confirmed.' },
      teste: {
        pt: 'O teste sai em alguns segundos; recarregue a página.',
        en: 'The test leaves within seconds; load the page again.',
      },
    } as Record<string, Bilingual>,
  },
  losses: {
    inError: {
      pt: (many: string) => (many === '1' ? '1 entrega em erro' : `${many} entregas em erro`),
      en: (many: string) => (many === '1' ? '1 delivery in error' : `${many} deliveries in error`),
    },
    last: { pt: 'A última,', en: 'The last,' },
    next: { pt: 'O que fazer:', en: 'What to do:' },
  },
  recovery: {
    title: { pt: 'Recuperar entregas', en: 'Recover deliveries' },
    open: { pt: 'Recuperar', en: 'Recover' },
    intro: {
      pt: 'Envia de novo o que falhou desde um instante: primeiro conta, depois você confirma.',
      en: 'Sends again what failed since an instant: it counts first, then you confirm.',
    },
    count: { pt: 'Contar', en: 'Count' },
    found: {
      pt: (count: string, inFlight: number) =>
        `${count} ${count === '1' ? 'entrega serve' : 'entregas servem'} a este pedido${inFlight === 0 ? '' : `; outras ${inFlight} estão em andamento e ficam como estão`}.`,
      en: (count: string, inFlight: number) =>
        `${count} ${count === '1' ? 'delivery fits' : 'deliveries fit'}${inFlight === 0 ? '' : `; ${inFlight} more are in flight and left alone`}.`,
    },
    what: {
      pt: 'Cada uma vai com o mesmo id e o mesmo corpo, e o seu calendário recomeça. O ritmo é o do webhook.',
      en: "Each goes with the same id and body, and its schedule begins anew. The pace is the webhook's.",
    },
    send: { pt: 'Enviar de novo', en: 'Send again' },
    inactive: {
      pt: 'O webhook está inativo: reative-o antes de recuperar.',
      en: 'The webhook is inactive: reactivate it before you recover.',
    },
    progress: {
      pt: (sent: number, total: number) => `${sent} de ${total} enviadas de novo…`,
      en: (sent: number, total: number) => `${sent} of ${total} sent again…`,
    },
    done: {
      pt: (count: number) => `${count} ${count === 1 ? 'entrega está' : 'entregas estão'} a caminho de novo.`,
      en: (count: number) => `${count} ${count === 1 ? 'delivery is on its' : 'deliveries are on their'} way again.`,
    },
  },
} satisfies Words;
