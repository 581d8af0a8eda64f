import type { Words } from './words.ts';

export const auditor = {
  balance: { pt: 'Balanço', en: 'Balance' },
  seals: { pt: 'Selos', en: 'Seals' },
  ids: {
    parceiro_id: { pt: 'Parceiro (id)', en: 'Partner (id)' },
    emprestimo_id: { pt: 'Empréstimo (id)', en: 'Loan (id)' },
    entrega_id: { pt: 'Entrega (id)', en: 'Delivery (id)' },
    webhook_id: { pt: 'Webhook (id)', en: 'Webhook (id)' },
  },
  recorded: { pt: 'Registrada', en: 'Recorded' },
  empty: { pt: 'Nenhuma tentativa com estes filtros.', en: 'No attempt fits these filters.' },
  exportHint: {
    pt: 'O arquivo traz tudo o que a busca acha, com um manifesto.',
    en: 'A file brings all that the search finds, with a manifest.',
  },
  behind: {
    pt: (seconds: number) => `Lido numa réplica, ${seconds} s atrás.`,
    en: (seconds: number) => `Read on a standby, ${seconds} s behind.`,
  },
  atMost: { pt: (days: number) => `no máximo ${days} dias`, en: (days: number) => `${days} days at most` },
  closes: {
    pt: 'O balanço fecha: nenhuma entrega falta ou sobra.',
    en: 'The balance closes: no delivery is missing and none is too many.',
  },
  doesNotClose: {
    pt: (count: number) => `O balanço não fecha: ${count} diferenças.`,
    en: (count: number) => `The balance does not close: ${count} differences.`,
  },
  sums: {
    pt: (events: number, imported: number, expected: number, delivered: number) =>
      `${events} eventos${imported === 0 ? '' : ` (e ${imported} importados, sem entregas)`}, ${expected} entregas esperadas: entregue ${delivered},`,
    en: (events: number, imported: number, expected: number, delivered: number) =>
      `${events} events${imported === 0 ? '' : ` (and ${imported} imported, without deliveries)`}, ${expected} deliveries expected: delivered ${delivered},`,
  },
  differences: { pt: 'Diferenças', en: 'Differences' },
  heat: { pt: 'Entregues / esperadas por parceiro e dia', en: 'Delivered / expected by partner and day' },
  heatHint: {
    pt: 'Mais escuro: maior a parte do dia que não chegou. O título de cada célula traz pendente + erro + suspensa.',
    en: 'Darker: more of the day did not arrive. The title of each cell tells pending + failed + suspended.',
  },
  noLines: { pt: 'Nenhum evento neste período.', en: 'No event in this period.' },
  head: { pt: 'Cabeça guardada fora, se houver', en: 'A head kept outside, if there is one' },
  headHint: {
    pt: 'A saída de audit head: sem ela, não se vê um fim cortado.',
    en: 'The output of audit head: without it a tail that was cut off is not seen.',
  },
  verify: { pt: 'Conferir o registro inteiro', en: 'Verify the whole log' },
  newestHead: { pt: 'Cabeça atual: guarde-a fora', en: 'The present head: keep it outside' },
  noSeal: { pt: 'Nada foi selado ainda.', en: 'Nothing is sealed yet.' },
  sealed: { pt: 'Selado', en: 'Sealed' },
  rows: { pt: 'Linhas', en: 'Rows' },
  root: { pt: 'Raiz', en: 'Root' },
  nightlyBalance: { pt: 'Último balanço, em', en: 'The last balance, at' },
  nightlyCloses: {
    pt: (from: string, to: string) => `de ${from} a ${to}, fecha.`,
    en: (from: string, to: string) => `from ${from} to ${to}, it closes.`,
  },
  nightlyOpen: {
    pt: (from: string, to: string, count: number) =>
      `de ${from} a ${to}, ${count} diferenças. Veja a saída de audit balance.`,
    en: (from: string, to: string, count: number) =>
      `from ${from} to ${to}, ${count} differences. See the output of audit balance.`,
  },
  neverBalanced: { pt: 'O balanço de cada noite ainda não correu.', en: 'The nightly balance has not run yet.' },
  unbroken: {
    pt: (seals: number, rows: number) =>
      `O registro está inteiro: ${seals} selos sobre ${rows} linhas, calculados de novo.`,
    en: (seals: number, rows: number) => `The log is whole: ${seals} seals over ${rows} rows, computed again.`,
  },
  nightly: { pt: 'Última conferência, em', en: 'The last check, at' },
  nightlyHolds: {
    pt: (seals: number) => `${seals} selos, nenhum achado.`,
    en: (seals: number) => `${seals} seals, no finding.`,
  },
  nightlyBroken: {
    pt: (count: number) => `${count} achados. Veja a saída de audit verify.`,
    en: (count: number) => `${count} findings. See the output of audit verify.`,
  },
  neverVerified: { pt: 'A conferência de cada noite ainda não correu.', en: 'The nightly check has not run yet.' },
  broken: {
    pt: (count: number, first: string) => `O registro não confere: ${count} achados. O primeiro: ${first}`,
    en: (count: number, first: string) => `The log does not fit: ${count} findings. The first: ${first}`,
  },
  evidence: { pt: 'Evidência de uma entrega', en: 'Evidence of one delivery' },
  itsAttempts: { pt: 'As suas tentativas', en: 'Its attempts' },
  withheld: {
    pt: 'Sem o escopo auditoria:cpf a prova vem mascarada, e não pode ser conferida por inteiro.',
    en: 'Without the scope auditoria:cpf the proof comes masked, and cannot be checked as a whole.',
  },
  lines: { pt: 'Linhas da prova', en: 'Rows of the proof' },
  notSealed: { pt: 'ainda sem selo', en: 'not sealed yet' },
  receipts: { pt: 'Guardado fora daqui', en: 'Kept outside' },
  places: {
    carimbo_de_tempo: { pt: 'carimbo de tempo', en: 'time stamp' },
    arquivo: { pt: 'arquivo', en: 'file' },
    bucket: { pt: 'bucket', en: 'bucket' },
    testemunha: { pt: 'testemunha', en: 'witness' },
  },
  inSeal: { pt: (number: number) => `selo ${number}`, en: (number: number) => `seal ${number}` },
  fits: {
    pt: 'Tudo confere: bytes, linhas, selos e checkpoint.',
    en: 'Everything fits: bytes, rows, seals and checkpoint.',
  },
  fitsInPart: {
    pt: 'Confere o que pôde ser conferido; o resto ainda não está selado, ou está mascarado.',
    en: 'What could be checked fits; the rest is not sealed yet, or masked.',
  },
  doesNotFit: { pt: 'Não confere:', en: 'Does not fit:' },
} satisfies Words;
