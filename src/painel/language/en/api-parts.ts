/** What the API's description says of fields, refusals, scopes and headers, in English, by the Portuguese sentence. */
export const PARTS: Readonly<Record<string, string>> = {
  // What requests and answers share
  'Se enviada, a mesma chave com o mesmo corpo devolve o resultado da primeira vez, sem fazer nada de novo.':
    'If sent, the same key with the same body answers the result of the first time, and nothing is done anew.',
  'Obrigatória: a mesma chave com o mesmo corpo devolve a resposta da primeira vez, sem fazer nada de novo.':
    'Required: the same key with the same body answers as the first time, and nothing is done anew.',
  'Segundos até valer a pena tentar de novo': 'Seconds until it is worth trying again',
  'Só quando há mais: o cursor da próxima página': 'Only where there is more: the cursor of the next page',
  'O caminho do empréstimo': "The loan's path",
  'Só na exportação: o nome do arquivo a gravar': 'Only for the export: the name of the file to save',
  'Só na exportação: o caminho do seu manifesto': 'Only for the export: the path of its manifest',
  'O instante da emissão': 'The moment of the emission',
  'O dono do webhook; ausente nos eventos da API de leilão': "The webhook's owner; absent in events of the auction API",
  'Um campo e a regra que ele não cumpre': 'A field and the rule that it breaks',
  'O corpo de toda recusa': 'The body of every refusal',

  // Refusals
  'JSON malformado, campo errado ou desconhecido, parâmetro ou cabeçalho inválido':
    'malformed JSON, a wrong or unknown field, an invalid parameter or header',
  'token ausente, malformado, expirado ou inválido, ou parceiro desconhecido ou inativo':
    'the token is missing, malformed, expired or invalid, or its partner is unknown or inactive',
  'o token é válido, mas não tem o escopo': 'the token is valid, but lacks the scope',
  'o recurso não existe, ou pertence a outro parceiro': 'there is no such resource, or it belongs to another partner',
  'o caminho existe com outro método': 'the path exists with another method',
  'o estado do recurso não permite o comando': "the resource's state does not allow the command",
  'o banco de dados voltou a um momento anterior ao do cursor; o detalhe `depois` traz o cursor por onde continuar':
    "the database went back to a moment before the cursor's; the detail `depois` brings the cursor to go on from",
  'a requisição com a mesma Idempotency-Key ainda está em andamento':
    'the request with the same Idempotency-Key is still under way',
  'o parceiro já tem o máximo de webhooks ativos': 'the partner has as many active webhooks as it may',
  'o corpo passa do tamanho máximo': 'the body is larger than it may be',
  'o corpo não é application/json': 'the body is not application/json',
  'a mesma Idempotency-Key já foi usada com outro corpo': 'the same Idempotency-Key was used with another body',
  'o registry recusou a consulta de margem': 'the registry refused the margin query',
  'o parceiro passou do seu limite de requisições por minuto': 'the partner sent more requests a minute than it may',
  'uma falha do serviço; nenhum detalhe é mostrado': 'a fault of the service; no detail is shown',
  'a consulta ao registry falhou': 'the query to the registry failed',
  'o banco de dados ou as chaves dos tokens estão fora de alcance, ou um corpo grande não teve a sua vez em 30 s; tente de novo':
    "the database or the tokens' keys are out of reach, or a large body had no turn within 30 s; try again",

  // Scopes
  'ler os webhooks do parceiro, suas entregas e seus eventos':
    "read the partner's webhooks, their deliveries and its events",
  'registrar e alterar webhooks, e reenviar entregas': 'register and change webhooks, and resend deliveries',
  'ler os empréstimos do parceiro': "read the partner's loans",
  'emitir empréstimos, enviar documentos e pedir averbações': 'issue loans, send documents and ask for registrations',
  'consultar margens': 'query margins',
  'ler os desligamentos e os novos vínculos detectados': 'read the ends of bond and rehires that were detected',
  'auditar tentativas, balanço e provas de todos os parceiros': 'audit attempts, balance and evidence of all partners',
  'ver, com auditoria:read, CPFs, consultas (query) de URLs e provas inteiras, que sem ele vêm mascarados':
    'see, with auditoria:read, CPFs, query strings of URLs and whole evidence, which are masked without it',
  'registrar, como o núcleo de crédito do próprio serviço, fatos dos empréstimos de todos os parceiros':
    "record, as the service's own loan core, facts of the loans of all partners",
  'ver no painel, sem parceiro, a fila e os pollers de todos, e definir limites':
    'see in the page, without a partner, the queue and the pollers of all, and set caps',
  'fazer o papel dos sistemas em volta do serviço, onde há sandbox':
    'play the systems around the service, where there is a sandbox',

  // Headers of deliveries
  'O nome do evento, igual a `evento` no corpo': "The event's name, as `evento` in the body",
  '`1` num teste que o parceiro pediu: nenhum empréstimo tem os ids e o número que ele traz':
    '`1` in a test that the partner asked for: no loan has the ids and the number that it brings',
  'O id da entrega, igual em toda tentativa: deduplique por ele':
    "The delivery's id, the same in every attempt: deduplicate by it",
  'HMAC-SHA256, em hexadecimal, dos bytes exatos do corpo; a chave é o secret inteiro, como mostrado':
    'HMAC-SHA256, in hex, of the exact bytes of the body; the key is the whole secret, as shown',
  'O mesmo pelo secret anterior, por 24 h a partir de quando o novo assina':
    'The same by the secret before, for 24 h from when the new one signs',
  'A versão do empréstimo no evento: descarte o que for mais velho do que já se conhece':
    "The loan's version at the event: drop what is older than what you know",
  'Quem envia, e em que versão': 'Who sends, and in which version',
  'Standard Webhooks: o id da entrega': "Standard Webhooks: the delivery's id",
  'Standard Webhooks: o instante da tentativa, em segundos desde 1970':
    'Standard Webhooks: the moment of the attempt, in seconds since 1970',
  'Standard Webhooks: `v1,` e o HMAC-SHA256 em base64 de `id.timestamp.corpo`; a chave são os bytes do secret sem o prefixo `whsec_`, decodificado de base64. Uma assinatura por secret vigente, separadas por espaço':
    'Standard Webhooks: `v1,` and the HMAC-SHA256 in base64 of `id.timestamp.body`; the key is what follows `whsec_`, decoded from base64. One signature for each secret in force, separated by spaces',
};
