import type { Words } from './words.ts';

export const conformance = {
  conformance: {
    title: { pt: 'Homologação', en: 'Conformance' },
    intro: {
      pt: 'Cerca de 45 POSTs, certos e errados, mostram o que o receptor aceita e o que recusa: assinaturas erradas, repetições, campos novos, dez de uma vez, um minuto de silêncio. Os ids não existem; nada disso é entrega nem evento. Leva pouco mais de um minuto.',
      en: 'Some 45 POSTs, right and wrong ones, show what the receiver takes and what it refuses: wrong signatures, repetitions, new fields, ten at once, a minute of silence. Their ids do not exist; none of it is a delivery or an event. It takes a little over a minute.',
    },
    begin: { pt: 'Homologar', en: 'Try the receiver' },
    question: {
      pt: 'Os POSTs vão agora para a URL deste webhook, com X-Webhook-Test: 1.',
      en: "The POSTs go to this webhook's URL now, with X-Webhook-Test: 1.",
    },
    none: { pt: 'Nenhuma homologação ainda.', en: 'The receiver has not been tried yet.' },
    state: { pt: 'Estado', en: 'State' },
    states: {
      em_andamento: { pt: 'em andamento', en: 'under way' },
      aprovada: { pt: 'aprovada', en: 'passed' },
      reprovada: { pt: 'reprovada', en: 'failed' },
      interrompida: { pt: 'interrompida', en: 'interrupted' },
    },
    started: { pt: 'Começou', en: 'Began' },
    ended: { pt: 'Terminou', en: 'Ended' },
    check: { pt: 'Verificação', en: 'Check' },
    verdict: { pt: 'Resultado', en: 'Verdict' },
    verdicts: {
      passou: { pt: 'passou', en: 'passed' },
      falhou: { pt: 'falhou', en: 'failed' },
      nao_se_aplica: { pt: 'não se aplica', en: 'does not apply' },
    },
    detail: { pt: 'O que enviamos e o que veio', en: 'What we sent and what came' },
    counts: {
      pt: (passed: number, failed: number, other: number) =>
        `${passed} passaram, ${failed} falharam, ${other} não se aplicam`,
      en: (passed: number, failed: number, other: number) =>
        `${passed} passed, ${failed} failed, ${other} do not apply`,
    },
    report: { pt: 'Baixar o relatório assinado', en: 'Download the signed report' },
    reportHint: {
      pt: 'JSON canônico nos dois idiomas, assinado pela chave dos checkpoints, com o credor e o parceiro: para os dois departamentos de compliance. SHA-256 do arquivo:',
      en: "Canonical JSON in both languages, signed by the checkpoints' key, with lender and partner: for both compliance departments. The file's SHA-256:",
    },
  },
} satisfies Words;
