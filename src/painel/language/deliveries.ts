import type { WaitingReason } from '../../contract/statuses.ts';
import type { Words } from './words.ts';

export const deliveries = {
  deliveries: {
    find: { pt: 'Procurar por id', en: 'Find by id' },
    findHint: { pt: 'De uma entrega, de um evento ou de um empréstimo', en: 'Of a delivery, an event or a loan' },
    notNamed: {
      pt: 'Este id não é de uma entrega, de um evento nem de um empréstimo seu.',
      en: 'This is no id of a delivery, an event or a loan of yours.',
    },
    filters: { pt: 'Filtros', en: 'Filters' },
    filter: { pt: 'Filtrar', en: 'Filter' },
    webhook: { pt: 'Webhook', en: 'Webhook' },
    loan: { pt: 'Empréstimo', en: 'Loan' },
    event: { pt: 'Evento', en: 'Event' },
    status: { pt: 'Status', en: 'Status' },
    outcome: { pt: 'Último resultado', en: 'Last outcome' },
    code: { pt: 'Status HTTP', en: 'HTTP status' },
    from: { pt: 'De', en: 'From' },
    until: { pt: 'Até', en: 'Until' },
    delivery: { pt: 'Entrega', en: 'Delivery' },
    attempts: { pt: 'Tentativas', en: 'Attempts' },
    next: { pt: 'Próxima tentativa', en: 'Next attempt' },
    empty: { pt: 'Nenhuma entrega com estes filtros.', en: 'No delivery fits these filters.' },
    emptyPage: {
      pt: 'Nada nesta parte da busca; ela continua na próxima página.',
      en: 'Nothing in this part of the search; it goes on with the next page.',
    },
    inFlight: { pt: 'em andamento', en: 'under way' },
    table: { pt: 'Entregas, da mais nova à mais antiga', en: 'Deliveries, newest first' },
  },
  delivery: {
    title: { pt: (id: string) => `Entrega ${id}`, en: (id: string) => `Delivery ${id}` },
    eventId: { pt: 'Id do evento', en: 'Id of the event' },
    version: { pt: (version: number) => `versão ${version}`, en: (version: number) => `version ${version}` },
    created: { pt: 'Criada', en: 'Created' },
    finished: { pt: 'Concluída', en: 'Finished' },
    waits: { pt: 'Por que espera:', en: 'Why it waits:' },
    /** Where the API says it in another language than the page. */
    waiting: {
      pt: {} as Partial<Record<WaitingReason, string>>,
      en: {
        parceiro_inativo: 'The partner is inactive.',
        webhook_inativo: 'The webhook is, or was, inactive: reactivate it and send what was suspended.',
        silenciado: 'The operator muted the webhook; the delivery leaves when it is unmuted.',
        em_andamento: 'An attempt is under way.',
        tentativa_perdida: 'How the last attempt ended is not known; it is made again in a moment.',
        outra_do_emprestimo: 'It waits for an earlier delivery of its loan: the webhook takes them in order.',
        proxima_tentativa: 'Its next attempt is planned; the time line says when.',
        falha_nossa: 'A fault of ours keeps it from being sent; no attempt is spent, and it leaves by itself.',
        sem_poller: 'It is due and held up by a fault of ours; it leaves by itself.',
        webhook_falhando: 'The webhook is failing, and gets one delivery at a time until it answers well.',
        sem_autorizacao: 'Its token server gave no token; see the error of the last attempt.',
        sem_consentimento:
          'The URL has not answered 2xx yet: until then one delivery is sent at a time, and later one a minute.',
        limite_do_webhook: 'The webhook has as many deliveries under way as its answers allow: answer faster.',
        a_caminho: 'It is due and is sent next.',
      } as Partial<Record<WaitingReason, string>>,
    },
    timeline: { pt: 'Linha do tempo', en: 'Time line' },
    timelineHint: {
      pt: 'As tentativas feitas e, vazadas, as que o calendário ainda prevê se cada uma falhar assim que começar.',
      en: 'The attempts made and, hollow, those that the schedule still plans if each fails as it starts.',
    },
    planned: { pt: 'prevista', en: 'planned' },
    attempt: { pt: (number: number) => `Tentativa ${number}`, en: (number: number) => `Attempt ${number}` },
    late: { pt: 'relatada com atraso', en: 'reported late' },
    test: { pt: 'teste', en: 'test' },
    spent: {
      pt: (spent: number, slots: number) => `${spent} de ${slots} tentativas do calendário usadas`,
      en: (spent: number, slots: number) => `${spent} of the schedule's ${slots} attempts spent`,
    },
    older: { pt: 'Tentativas anteriores', en: 'Earlier attempts' },
    noAttempt: { pt: 'Ainda não houve tentativa.', en: 'There was no attempt yet.' },
    answer: { pt: 'Início da resposta', en: 'Beginning of the answer' },
    answerHeaders: { pt: 'Cabeçalhos da resposta', en: 'Headers of the answer' },
    noAnswer: { pt: 'A resposta não tinha corpo.', en: 'The answer had no body.' },
    address: { pt: 'Endereço', en: 'Address' },
    error: { pt: 'Erro', en: 'Error' },
    headers: { pt: 'Cabeçalhos enviados', en: 'Headers as sent' },
    headersHint: {
      pt: 'webhook-timestamp é o segundo em que a tentativa começou; no limite de um segundo pode diferir por um.',
      en: 'webhook-timestamp is the second in which the attempt began; at the edge of a second it may differ by one.',
    },
    unsigned: {
      pt: 'As assinaturas desta tentativa não podem mais ser mostradas: o secret que as fez não é guardado, ou foi trocado naquele minuto.',
      en: 'The signatures of this attempt can no longer be shown: the secret that made them is not kept, or was rotated in that minute.',
    },
    body: { pt: 'Corpo exato', en: 'Exact body' },
    bodyHint: {
      pt: (bytes: number) =>
        `${bytes} bytes, os mesmos em cada tentativa. A assinatura é destes bytes, antes de qualquer parse.`,
      en: (bytes: number) =>
        `${bytes} bytes, the same in every attempt. The signature is of these bytes, before any parsing.`,
    },
    resend: { pt: 'Reenviar', en: 'Send again' },
    resendConfirm: {
      pt: 'Enviar esta entrega de novo? Vai com o mesmo id e o mesmo corpo, e o calendário recomeça.',
      en: 'Send this delivery again? It goes with the same id and body, and its schedule begins anew.',
    },
    resent: { pt: 'A entrega foi reenviada e está pendente.', en: 'The delivery was sent again and is pending.' },
    curl: { pt: 'Repetir com curl', en: 'Repeat with curl' },
    curlHint: {
      pt: 'Os mesmos bytes e cabeçalhos, da sua máquina. Um receptor que confere webhook-timestamp recusa depois de 5 minutos.',
      en: 'The same bytes and headers, from your machine. A receiver that holds webhook-timestamp refuses after 5 minutes.',
    },
    credentialsHint: {
      pt: 'Os últimos são das credenciais que o webhook tem agora; os seus valores não são mostrados.',
      en: 'The last are of the credentials that the webhook has now; their values are not shown.',
    },
    curlCredentials: {
      pt: 'As credenciais do webhook não são mostradas: ponha-as no lugar das palavras em maiúsculas.',
      en: "The webhook's credentials are not shown: put them in place of the words in capitals.",
    },
    placeholders: {
      user: { pt: 'USUARIO:SENHA', en: 'USER:PASSWORD' },
      token: { pt: 'TOKEN', en: 'TOKEN' },
      value: { pt: 'VALOR', en: 'VALUE' },
      certificate: { pt: 'CERTIFICADO.pem', en: 'CERTIFICATE.pem' },
      key: { pt: 'CHAVE.pem', en: 'KEY.pem' },
    },
    checkpointHint: {
      pt: 'A cabeça assinada mais nova do log, como a próxima tentativa a leva em X-Carteiro-Checkpoint.',
      en: 'The newest signed head of the log, as the next attempt carries it in X-Carteiro-Checkpoint.',
    },
    checkpointDocs: { pt: 'Como conferir', en: 'How to verify it' },
    proof: { pt: 'Baixar a prova', en: 'Download the proof' },
    proofHint: {
      pt: 'A evidência desta entrega, inteira: o corpo com seus CPFs, as tentativas, e os selos que as cobrem.',
      en: 'The evidence of this delivery, whole: the body with its CPFs, the attempts, and the seals that cover them.',
    },
    sheet: { pt: 'Comprovante da entrega', en: 'Evidence of the delivery' },
    sheetTest: { pt: 'TESTE: nada do que o corpo diz aconteceu.', en: 'TEST: nothing of what the body says happened.' },
    sheetCheck: { pt: 'Conferir sem nós', en: 'Check it without us' },
    sheetHash: {
      pt: 'O corpo é o que foi selado com o evento e enviado em cada tentativa: este comando dá o SHA-256 acima.',
      en: 'The body is the one that was sealed with the event and sent by each attempt: this command gives the SHA-256 above.',
    },
    sheetStamp: {
      pt: 'O checkpoint existia na hora do carimbo. act.pem é a cadeia da autoridade; peça a ela, não a nós.',
      en: 'The checkpoint existed at the time of the stamp. act.pem is the authority’s chain; ask the authority for it, not us.',
    },
    sheetVerifier: {
      pt: 'Cada linha leva ao checkpoint, e o checkpoint à assinatura. confere deve ser true.',
      en: 'Each row leads to the checkpoint, and the checkpoint to the signature. confere must be true.',
    },
  },
} satisfies Words;
