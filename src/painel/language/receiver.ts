/** Texts about a webhook's receiver: its credentials and its conformance runs. */
import type { Words } from './words.ts';

export const receiver = {
  credentials: {
    title: { pt: 'Credenciais do receptor', en: "The receiver's credentials" },
    none: {
      pt: 'Nenhuma: cada POST traz só as assinaturas.',
      en: 'None: each POST brings signatures alone.',
    },
    intro: {
      pt: 'O que o gateway diante do receptor exige de cada POST. O que você salvar substitui tudo o que está definido: um segredo salvo não aparece aqui, escreva-o de novo.',
      en: 'What the gateway before your receiver demands of each POST. What you save replaces all that is set: a secret that was saved is not shown here, write it again.',
    },
    set: { pt: 'Definir credenciais', en: 'Set credentials' },
    replace: { pt: 'Substituir credenciais', en: 'Replace credentials' },
    remove: { pt: 'Remover credenciais', en: 'Remove credentials' },
    removeConfirm: {
      pt: 'Os próximos POSTs saem sem elas.',
      en: 'The next POSTs leave without them.',
    },
    authorization: { pt: 'Autorização', en: 'Authorization' },
    kinds: {
      none: { pt: 'nenhuma', en: 'none' },
      basic: { pt: 'usuário e senha (Basic)', en: 'user and password (Basic)' },
      bearer: { pt: 'token fixo (Bearer)', en: 'fixed token (Bearer)' },
      oauth2: { pt: 'OAuth 2, client credentials', en: 'OAuth 2, client credentials' },
    },
    fields: {
      usuario: { pt: 'Usuário', en: 'User' },
      senha: { pt: 'Senha', en: 'Password' },
      token: { pt: 'Token', en: 'Token' },
      token_url: { pt: 'URL do servidor de token', en: "The token server's URL" },
      client_id: { pt: 'client_id', en: 'client_id' },
      client_secret: { pt: 'client_secret', en: 'client_secret' },
      envio: { pt: 'Como o client_secret vai', en: 'How the client_secret is sent' },
      escopo: { pt: 'scope', en: 'scope' },
      audiencia: { pt: 'audience', en: 'audience' },
    },
    sent: {
      basic: { pt: 'no cabeçalho Authorization', en: 'in the Authorization header' },
      corpo: { pt: 'no corpo do pedido', en: "in the request's body" },
    },
    optional: { pt: 'opcional', en: 'optional' },
    headers: { pt: 'Cabeçalhos', en: 'Headers' },
    name: { pt: 'Nome', en: 'Name' },
    value: { pt: 'Valor', en: 'Value' },
    certificate: { pt: 'Certificado de cliente', en: 'Client certificate' },
    certificateHint: {
      pt: 'Para TLS mútuo: o certificado, com os intermediários atrás dele, e a sua chave sem senha, em PEM.',
      en: 'For mutual TLS: the certificate, its intermediates behind it, and its key without a password, as PEM.',
    },
    pem: { pt: 'Certificado (PEM)', en: 'Certificate (PEM)' },
    key: { pt: 'Chave privada (PEM)', en: 'Private key (PEM)' },
    until: { pt: 'até', en: 'until' },
  },
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
