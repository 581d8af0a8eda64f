import type { Bilingual } from '../../contract/language.ts';
import type { Words } from './words.ts';

export const webhooks = {
  webhooks: {
    create: { pt: 'Criar webhook', en: 'Create a webhook' },
    edit: { pt: 'Editar', en: 'Edit' },
    save: { pt: 'Salvar', en: 'Save' },
    url: { pt: 'URL', en: 'URL' },
    urlHint: {
      pt: 'https, um nome público; no sandbox também http e 127.0.0.1. Se um gateway à frente pede credenciais, cadastre-as na página do webhook.',
      en: 'https, a public name; in the sandbox also http and 127.0.0.1. If a gateway in front demands credentials, set them on the page of the webhook.',
    },
    health: { pt: 'Saúde', en: 'Health' },
    newest: { pt: 'Entregas mais novas', en: 'Newest deliveries' },
    allDeliveries: { pt: 'Todas as entregas deste webhook', en: 'All deliveries of this webhook' },
    order: { pt: 'Ordem', en: 'Order' },
    orders: {
      nenhuma: { pt: 'cada entrega quando vence', en: 'each delivery as it is due' },
      por_emprestimo: {
        pt: 'de cada empréstimo uma por vez, por versão',
        en: 'of each loan one at a time, by version',
      },
    },
    changeOrder: { pt: 'Mudar a ordem', en: 'Change the order' },
    orderConfirm: {
      nenhuma: {
        pt: 'Cada entrega sai quando vence, sem esperar por outra do seu empréstimo.',
        en: 'Each delivery leaves when it is due, without waiting for another of its loan.',
      },
      por_emprestimo: {
        pt: 'De cada empréstimo sai uma entrega por vez, por versão. Uma que falha segura as seguintes do seu empréstimo.',
        en: 'Of each loan one delivery leaves at a time, by version. One that fails holds back those of its loan that follow.',
      },
    },
    oldestPending: { pt: 'Pendente mais antiga', en: 'Oldest pending' },
    lastDelivered: { pt: 'Última entregue', en: 'Last delivered' },
    ofDay: {
      pt: 'Entregues e tempos são das tentativas das últimas 24 horas.',
      en: 'Delivered and times are of the attempts of the last 24 hours.',
    },
    onlyActive: { pt: 'Só os ativos', en: 'Active ones only' },
    inactiveToo: { pt: 'Mostrar os inativos também', en: 'Show inactive ones too' },
    empty: {
      pt: 'Nenhum webhook ainda. Crie o primeiro: o secret aparece uma vez, logo depois.',
      en: 'No webhook yet. Create the first: its secret is shown once, right after.',
    },
    stopped: {
      inativa: { pt: 'inativo', en: 'inactive' },
      suspensa: { pt: 'suspenso pelo serviço', en: 'suspended by the service' },
      silenciada: { pt: 'silenciado pela operação', en: 'muted by the operator' },
    },
    idle: { pt: 'sem entregas', en: 'no deliveries' },
    well: { pt: 'bem', en: 'well' },
    failing: {
      pt: (count: number) => (count === 1 ? 'a última falhou' : `${count} falhas seguidas`),
      en: (count: number) => (count === 1 ? 'the last one failed' : `${count} failures in a row`),
    },
    isFailing: { pt: 'falhando', en: 'failing' },
    inError: { pt: (count: number) => `${count} em erro`, en: (count: number) => `${count} in error` },
    strange: {
      pt: (count: number) => `${count} respostas estranhas`,
      en: (count: number) => `${count} strange answers`,
    },
    noConsent: { pt: 'sem 2xx ainda', en: 'no 2xx yet' },
    consent: { pt: 'Por que espera', en: 'Why it waits' },
    oneAtATime: {
      pt: 'A URL ainda não respondeu 2xx: até lá sai uma entrega por vez.',
      en: 'The URL has not answered 2xx yet: until then one delivery is sent at a time.',
    },
    oneAMinute: {
      pt: (refusals: number) =>
        `A URL ainda não respondeu 2xx, em ${refusals} tentativas: sai uma entrega por minuto até que responda. A próxima, depois de`,
      en: (refusals: number) =>
        `The URL has not answered 2xx yet, in ${refusals} attempts: one delivery a minute is sent until it does. The next one after`,
    },
    certificate: { pt: 'Certificado do receptor até', en: "The receiver's certificate until" },
    ownCertificate: { pt: 'Certificado de cliente do webhook até', en: "The webhook's own client certificate until" },
    label: { pt: 'Rótulo', en: 'Label' },
    nameIt: { pt: 'Dar um rótulo', en: 'Label it' },
    labelHint: {
      pt: 'Um nome seu para este webhook, até 80 caracteres. Em branco: nenhum.',
      en: 'A name of yours for this webhook, up to 80 characters. Empty: none.',
    },
    outcome: { pt: 'Resultado', en: 'Outcome' },
    changed: { pt: 'De → para', en: 'From → to' },
    someFailed: { pt: (count: number) => `bem, ${count} falharam`, en: (count: number) => `well, ${count} failed` },
    secretTitle: { pt: 'Secret do webhook', en: 'Secret of the webhook' },
    secretOnce: {
      pt: 'Copie o secret agora: ele aparece só nesta página e em nenhum outro lugar.',
      en: 'Copy the secret now: it is shown on this page and nowhere else.',
    },
    secretGone: {
      pt: 'O secret já foi mostrado e não aparece de novo. Se não o guardou, troque-o.',
      en: 'The secret was shown and is not shown again. If you did not keep it, rotate it.',
    },
    toWebhook: { pt: 'Ir para o webhook', en: 'To the webhook' },
    signsFrom: { pt: 'Assina a partir de', en: 'Signs from' },
    previousUntil: { pt: 'O secret anterior também assina até', en: 'The secret before it signs too, until' },
    secret: { pt: 'Secret', en: 'Secret' },
    alone: { pt: 'Um secret assina sozinho.', en: 'One secret signs alone.' },
    waits: {
      pt: 'Um secret novo espera; o atual assina sozinho até',
      en: 'A new secret waits; the present one signs alone until',
    },
    overlaps: {
      pt: 'O secret novo assina, e o anterior também, até',
      en: 'The new secret signs, and so does the one before, until',
    },
    rotate: { pt: 'Trocar o secret', en: 'Rotate the secret' },
    rotateConfirm: {
      pt: 'O secret novo aparece uma vez. O anterior assina também por 24 h depois que o novo começar, a menos que você o encerre.',
      en: 'The new secret is shown once. The one before signs too for 24 h after the new one begins, unless you end it.',
    },
    inHours: { pt: (hours: number) => `daqui a ${hours} h`, en: (hours: number) => `in ${hours} h` },
    activate: { pt: 'Ativar já o novo', en: 'Let the new one sign now' },
    activateConfirm: {
      pt: 'O secret novo passa a assinar agora, e o anterior também por 24 h.',
      en: 'The new secret signs from now on, and the one before too for 24 h.',
    },
    discard: { pt: 'Descartar o novo', en: 'Discard the new one' },
    discardConfirm: {
      pt: 'O secret novo é descartado e o atual continua a assinar.',
      en: 'The new secret is dropped and the present one goes on signing.',
    },
    end: { pt: 'Encerrar o anterior', en: 'End the one before' },
    endConfirm: {
      pt: 'O secret anterior deixa de assinar agora. Só depois que o receptor já confere pelo novo.',
      en: 'The secret before stops signing now. Only once your receiver verifies by the new one.',
    },
    test: { pt: 'Enviar um teste', en: 'Send a test' },
    testHint: {
      pt: 'Envia um webhook.teste assinado, ou o exemplo de um evento como você o editar, uma só vez, com X-Webhook-Test: 1, e mostra o pedido e a resposta. Pode levar até 35 s.',
      en: 'Sends a signed webhook.teste, or the example of an event as you edit it, once, with X-Webhook-Test: 1, and shows request and answer. It may take up to 35 s.',
    },
    dataHint: {
      pt: 'Mude o que quiser dentro dos campos do evento; ids e números ficam os do exemplo, que nenhum empréstimo tem.',
      en: "Change what you like within the event's fields; ids and numbers stay the example's, which no loan has.",
    },
    noJson: {
      pt: 'O que está em data não é JSON: falta talvez uma vírgula, ou aspas.',
      en: 'What stands in data is no JSON: perhaps a comma is missing, or a quote.',
    },
    testEvent: { pt: 'Evento do teste', en: 'Event of the test' },
    deactivate: { pt: 'Desativar', en: 'Deactivate' },
    deactivateConfirm: {
      pt: 'O webhook deixa de receber. O que está pendente fica suspenso até você retomar.',
      en: 'The webhook stops receiving. What is pending is suspended until you resume it.',
    },
    reactivate: { pt: 'Reativar', en: 'Reactivate' },
    reactivateConfirm: {
      pt: 'O webhook volta a receber os eventos novos.',
      en: 'The webhook receives new events again.',
    },
    resume: { pt: 'Enviar também o que ficou suspenso', en: 'Send what was suspended, too' },
    verify: { pt: 'Conferir a assinatura', en: 'Verify the signature' },
    verifyHint: {
      pt: 'Um receptor com os valores deste webhook. O secret vem do ambiente, em CARTEIRO_SECRETS.',
      en: "A receiver with this webhook's values. The secret comes from the environment, in CARTEIRO_SECRETS.",
    },
    done: {
      rotulado: { pt: 'O rótulo mudou.', en: 'The label was changed.' },
      credenciais: { pt: 'As credenciais mudaram.', en: 'The credentials were changed.' },
      ordem: { pt: 'A ordem das entregas mudou.', en: 'The order of deliveries was changed.' },
      alterado: { pt: 'O webhook foi alterado.', en: 'The webhook was changed.' },
      desativado: { pt: 'O webhook está inativo.', en: 'The webhook is inactive.' },
      reativado: { pt: 'O webhook está ativo.', en: 'The webhook is active.' },
      ativado: { pt: 'O secret novo assina.', en: 'The new secret signs.' },
      descartado: { pt: 'O secret novo foi descartado.', en: 'The new secret was dropped.' },
      encerrado: { pt: 'O secret anterior não assina mais.', en: 'The secret before does not sign any more.' },
    } as Record<string, Bilingual>,
  },
} satisfies Words;
