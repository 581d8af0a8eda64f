import type { Words } from './words.ts';

export const credentials = {
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
} satisfies Words;
