/** The partner's events, overview and loans. */
import type { Bilingual } from '../../contract/language.ts';
import type { LoanStatus, NextAction } from '../../contract/statuses.ts';
import type { Words } from './words.ts';

export const partner = {
  events: {
    intro: {
      pt: 'O que aconteceu, na ordem em que se confirmou: o feed de GET /v1/eventos.',
      en: 'What happened, in the order of commits: the feed of GET /v1/eventos.',
    },
    catalog: {
      pt: 'O catálogo: o que cada evento e campo quer dizer',
      en: 'The catalogue: what each event and field means',
    },
    history: { pt: 'com o histórico importado', en: 'with imported history' },
    count: {
      pt: (count: number) => (count === 1 ? '1 evento' : `${count} eventos`),
      en: (count: number) => (count === 1 ? '1 event' : `${count} events`),
    },
    newer: { pt: 'O que há de novo', en: 'What is new' },
    empty: { pt: 'Nenhum evento desde este instante.', en: 'No event since this instant.' },
    imported: { pt: 'importado', en: 'imported' },
    erased: { pt: 'apagado', en: 'erased' },
    erasedHint: {
      pt: 'Os dados deste evento foram apagados a pedido ou por ordem. Id, horário e tentativas ficam; nada mais é enviado.',
      en: 'The data of this event were erased by an order. Its id, times and attempts stay; nothing more is sent.',
    },
    unreadable: { pt: 'ilegível', en: 'unreadable' },
    reserved: { pt: 'Nomes reservados, nunca emitidos:', en: 'Reserved names, never emitted:' },
    guarantee: {
      guaranteed: { pt: 'garantido', en: 'guaranteed' },
      conditional: { pt: 'condicional', en: 'conditional' },
    },
    fields: { pt: 'Campos de data', en: 'Fields of data' },
    field: { pt: 'Campo', en: 'Field' },
    type: { pt: 'Tipo', en: 'Type' },
    rule: { pt: 'Forma', en: 'Form' },
    meaning: { pt: 'O que é', en: 'Meaning' },
  },
  overview: {
    window: { pt: 'Janela', en: 'Window' },
    windows: {
      '15m': { pt: '15 minutos', en: '15 minutes' },
      '1h': { pt: '1 hora', en: '1 hour' },
      '6h': { pt: '6 horas', en: '6 hours' },
      '24h': { pt: '24 horas', en: '24 hours' },
      '7d': { pt: '7 dias', en: '7 days' },
    } as Record<string, Bilingual>,
    delivered: { pt: 'Entregues', en: 'Delivered' },
    failed: { pt: 'Falhas', en: 'Failed' },
    failedAttempts: { pt: 'Tentativas que falharam', en: 'Failed attempts' },
    perMinute: { pt: 'por minuto', en: 'a minute' },
    arrival: { pt: (quantile: string) => `Chegada (${quantile})`, en: (quantile: string) => `Arrival (${quantile})` },
    rate: { pt: 'Tentativas por minuto', en: 'Attempts a minute' },
    delay: { pt: 'Do commit à chegada, na primeira tentativa', en: 'From commit to arrival, at the first attempt' },
    pending: { pt: 'Pendentes', en: 'Pending' },
    due: { pt: 'Vencidas', en: 'Due' },
    oldestDue: { pt: 'Mais antiga vencida', en: 'Oldest due' },
    failing: { pt: 'Webhooks com falhas', en: 'Webhooks with failures' },
    noneFailing: { pt: 'Nenhum webhook tem falhas.', en: 'No webhook has failures.' },
    asTable: {
      pt: 'Os gráficos como tabela, na abertura da página',
      en: 'The charts as a table, as the page was opened',
    },
    time: { pt: 'Horário', en: 'Time' },
    cut: {
      pt: 'Tentativas demais para a janela inteira; mostradas a partir de',
      en: 'Too many attempts for the whole window; shown from',
    },
  },
  loanStatus: {
    emitindo: { pt: 'emitindo', en: 'being issued' },
    em_assinatura: { pt: 'em assinatura', en: 'being signed' },
    aguardando_averbacao: { pt: 'aguardando averbação', en: 'awaits registration' },
    averbada: { pt: 'averbada', en: 'registered' },
    desembolsada: { pt: 'desembolsada', en: 'disbursed' },
    cancelada: { pt: 'cancelada', en: 'cancelled' },
    encerrada_desligamento: { pt: 'encerrada', en: 'closed' },
  } satisfies Record<LoanStatus, Bilingual>,
  nextAction: {
    aguardar_emissao: { pt: 'aguardar a emissão', en: 'wait for the issuance' },
    assinar: { pt: 'assinar', en: 'sign' },
    enviar_documentos: { pt: 'enviar documentos', en: 'send documents' },
    averbar: { pt: 'averbar', en: 'register' },
    desembolsar: { pt: 'desembolsar', en: 'disburse' },
  } satisfies Record<NextAction, Bilingual>,
  documents: {
    nenhuma: { pt: 'sem obrigação', en: 'no obligation' },
    aguardando: { pt: 'aguardando', en: 'awaited' },
    recebido: { pt: 'recebido', en: 'received' },
  },
  loans: {
    one: { pt: (number: string) => `Empréstimo ${number}`, en: (number: string) => `Loan ${number}` },
    notFound: { pt: 'Nenhum empréstimo seu tem este id.', en: 'No loan of yours has this id.' },
    recent: { pt: 'Os que se moveram por último', en: 'Those that moved last' },
    empty: { pt: 'Nenhum empréstimo ainda.', en: 'No loan yet.' },
    number: { pt: 'Número', en: 'Number' },
    lastEvent: { pt: 'Último evento', en: 'Last event' },
    version: { pt: 'Versão', en: 'Version' },
    at: { pt: 'Em', en: 'At' },
    slider: { pt: 'Como era na versão', en: 'As it was at version' },
    picture: { pt: 'Os estados do empréstimo', en: 'The states of the loan' },
    pictureLabel: {
      pt: (way: string, documents: string) => `Caminho: ${way}. Documentos: ${documents}.`,
      en: (way: string, documents: string) => `Way: ${way}. Documents: ${documents}.`,
    },
    documentsDimension: { pt: 'Entrega de documentos', en: 'Documents' },
    nextAction: { pt: 'Próxima ação', en: 'Next action' },
    allDeliveries: { pt: 'todas deste empréstimo', en: 'all of this loan' },
    noDelivery: { pt: 'nenhuma entrega', en: 'no delivery' },
    asRead: {
      pt: (version: number) => `GET /v1/emprestimos/{id}?versao=${version}`,
      en: (version: number) => `GET /v1/emprestimos/{id}?versao=${version}`,
    },
  },
} satisfies Words;
