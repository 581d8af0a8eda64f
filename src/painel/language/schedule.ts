import type { Words } from './words.ts';

export const schedule = {
  title: { pt: 'Calendário das tentativas', en: 'Schedule of attempts' },
  intro: [
    {
      pt: 'Uma entrega dá certo com qualquer 2xx em até TIMEOUT s, contados do início da tentativa até a linha de status. Conexão e TLS contam. O corpo da resposta é ignorado.',
      en: 'A delivery succeeds with any 2xx within TIMEOUT s, from the start of the attempt to the status line. Connecting and TLS count. The body of the answer is ignored.',
    },
    {
      pt: 'Qualquer outra resposta, um redirecionamento, um erro de conexão ou de TLS e o fim do prazo são falhas. A entrega é tentada de novo:',
      en: 'Any other answer, a redirect, an error of connection or TLS, and the end of that time are failures. The delivery is tried again:',
    },
  ],
  attempt: { pt: 'Tentativa', en: 'Attempt' },
  after: { pt: 'Depois do fim da anterior', en: 'After the end of the one before' },
  since: { pt: 'Desde a primeira, no mínimo', en: 'Since the first, at least' },
  atOnce: { pt: 'com o commit do evento', en: 'with the commit of the event' },
  last: [
    {
      pt: 'Depois da última falha a entrega termina em `erro`. `POST /v1/entregas/{id}/reenvio` a recomeça, com o mesmo id e o calendário desde o início.',
      en: 'After the last failure the delivery ends in `erro`. `POST /v1/entregas/{id}/reenvio` starts it again, with the same id and a fresh schedule.',
    },
    {
      pt: 'Cada tentativa envia os mesmos bytes e o mesmo `X-Webhook-Delivery`. Uma entrega pode chegar mais de uma vez: se o receptor fecha a conexão no instante do envio, ou se o poller morre antes de registrar a resposta.',
      en: 'Each attempt sends the same bytes and the same `X-Webhook-Delivery`. A delivery may come more than once: when the receiver closes the connection just as it is sent, or when the poller dies before it has recorded the answer.',
    },
    {
      pt: 'As entregas de um webhook não têm ordem entre si. `X-Webhook-Loan-Version` diz qual evento do empréstimo é mais novo.',
      en: 'The deliveries of a webhook have no order among each other. `X-Webhook-Loan-Version` tells which event of a loan is newer.',
    },
  ],
  outcomes: { pt: 'Resultados de uma tentativa', en: 'Outcomes of an attempt' },
  statuses: { pt: 'Situações de uma entrega', en: 'States of a delivery' },
  word: { pt: 'Palavra', en: 'Word' },
  meaning: { pt: 'Significado', en: 'Meaning' },
  outcomeMeaning: {
    entregue: { pt: '2xx dentro do prazo', en: '2xx in time' },
    resposta_nao_2xx: { pt: 'outro status, redirecionamento incluído', en: 'another status, redirects included' },
    tempo_esgotado: { pt: 'nenhuma linha de status dentro do prazo', en: 'no status line in time' },
    erro_conexao: {
      pt: 'nome sem endereço, conexão recusada ou rompida',
      en: 'a name without an address, a connection refused or broken',
    },
    erro_tls: { pt: 'certificado ou handshake recusado', en: 'the certificate or the handshake was refused' },
    erro_autorizacao: {
      pt: 'o servidor de token não deu um token, e nada foi enviado',
      en: 'the token server gave no token, and nothing was sent',
    },
    destino_recusado: { pt: 'o endereço não é público', en: 'the address is not public' },
    desconhecido: {
      pt: 'o poller morreu antes de registrar; não gasta o calendário',
      en: 'the poller died before it recorded; it costs no attempt of the schedule',
    },
  },
  statusMeaning: {
    pendente: {
      pt: 'espera a sua vez, ou a resposta de uma tentativa',
      en: 'waits for its time, or for the answer of an attempt',
    },
    entregue: { pt: 'chegou', en: 'arrived' },
    erro: { pt: 'as tentativas acabaram', en: 'no attempt is left' },
    suspensa: {
      pt: 'o webhook foi desativado enquanto esperava; `retomar` a envia',
      en: 'its webhook was deactivated while it waited; `retomar` sends it',
    },
  },
  paceTitle: { pt: 'Quantas ao mesmo tempo', en: 'How many at once' },
  pace: {
    pt: 'As entregas em andamento para um webhook começam em 8. O número cresce com boas respostas, até um limite do operador, e cai com recusas e respostas lentas. Um receptor que não responde recebe uma de cada vez.',
    en: 'The deliveries in flight to a webhook begin at 8. The number grows with good answers, up to a cap of the operator, and falls with refusals and slow answers. A receiver that does not answer gets one at a time.',
  },
} satisfies Words;
