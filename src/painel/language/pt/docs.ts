/** The pages at /docs in Portuguese, and the shape of every other language. A text between backticks is code. */
export const docsPt = {
  menu: 'Documentação',
  pages: {
    start: 'Começo',
    events: 'Eventos',
    verification: 'Verificação',
    schedule: 'Calendário',
    api: 'API',
    registry: 'Registry',
  },
  start: {
    title: 'No ar em dez minutos',
    intro: [
      'Um webhook é uma URL e os nomes dos eventos que ela quer. Cada evento chega a ela como um POST assinado. O que se perde pode sempre ser lido de novo.',
    ],
    steps: [
      {
        title: '1. Um token',
        text: ['Peça ao operador um token com `webhooks:read` e `webhooks:write`. No sandbox, o painel faz um.'],
      },
      {
        title: '2. Um receptor na sua máquina',
        text: [
          'Copie um verificador e escreva o receptor: confira a assinatura, guarde a entrega, responda 2xx. Enquanto ele não tem endereço público, o comando `listen` (Node 24) lhe encaminha as entregas a partir do fluxo de eventos:',
        ],
      },
      {
        title: '3. O webhook',
        text: ['O `secret` só aparece nesta resposta. Guarde-o onde o receptor o lê.'],
      },
      {
        title: '4. Um teste',
        text: ['A resposta diz o que o receptor respondeu. O painel mostra cada tentativa.'],
      },
      {
        title: '5. Nada se perde',
        text: [
          'Deduplique por `X-Webhook-Delivery`: uma entrega pode chegar mais de uma vez. Depois de uma parada, leia o fluxo a partir do último cursor, ou o empréstimo por `GET /v1/emprestimos/{id}`.',
        ],
      },
    ],
    tokenTitle: 'Autenticação',
    token: [
      'Um JWT assinado com RS256, PS256, ES256 ou EdDSA, em `Authorization: Bearer`. Ele traz `iss`, `aud`, `exp`, `iat`, `sub` e `parceiro_id`, e os escopos em `scope` (separados por espaços) ou `scp` (uma lista).',
    ],
    scope: 'Escopo',
    allows: 'Permite',
    egressTitle: 'De onde partem as entregas',
    egress: [
      'Libere estes endereços e sub-redes no firewall do receptor, também em `GET /v1/enderecos`. Um endereço permitido não dispensa a verificação da assinatura.',
    ],
    noEgress: [
      'O operador não promete endereços de saída (`GET /v1/enderecos`): não filtre por eles, verifique a assinatura.',
    ],
    valuesTitle: 'Valores',
    values: [
      'Ids são UUIDs. Instantes são ISO 8601 em UTC, com milissegundos. Valores são números em reais, com no máximo duas casas.',
    ],
  },
  events: {
    title: 'Eventos',
    intro: [
      'Assim chega cada evento: um POST com estes cabeçalhos e este corpo, em uma linha. A assinatura dos exemplos confere com o secret `SECRET`.',
    ],
    headers: 'Cabeçalhos',
    header: 'Cabeçalho',
    meaning: 'Significado',
    arrives: 'O que chega',
    sometimes: 'nem sempre',
    eventHeader: 'O nome do evento, igual ao campo evento do corpo',
  },
  verification: {
    title: 'Verificação da assinatura',
    intro: [
      'Confira os bytes do corpo como chegaram, antes de qualquer análise, em tempo constante. Recuse com 401 o que não confere.',
      'Copie um arquivo. Cada um basta a si mesmo, sem dependências. `verify` e `verifyBody` recebem o corpo, os cabeçalhos e todos os secrets em vigor: dois, enquanto dura uma troca.',
    ],
    functions: [
      '`verify` lê os cabeçalhos do Standard Webhooks. Recusa uma entrega cujo `webhook-timestamp` está a mais de cinco minutos de agora: ninguém repete uma entrega gravada. Use esta.',
      '`verifyBody` (`verify_body`, `VerifyBody`) lê o cabeçalho do contrato, que não assina o tempo. Deduplique por `X-Webhook-Delivery`.',
      '`verifyCheckpoint` (`verify_checkpoint`, `VerifyCheckpoint`) confere `X-Carteiro-Checkpoint` com a última linha guardada: veja abaixo.',
    ],
    checkpointTitle: 'Checkpoints',
    checkpoint: [
      'Cada entrega traz a cabeça assinada mais nova do log que cobre todos os eventos e tentativas: o nome do log, o número de selos, a raiz e uma assinatura (Ed25519). Guarde a última linha: ninguém muda depois o que já foi selado sem que você note, nem o dono do banco de dados.',
      'Dê a `verifyCheckpoint` o cabeçalho, as chaves públicas, a linha guardada e o endereço desta API, depois de responder à entrega. `ok`: guarde a linha que ela devolve. `fork`: guarde as duas linhas e avise-nos. `forged`: nenhuma chave assinou a linha. `unknown`: tente com a próxima.',
    ],
    checkpointKeys: 'Chaves públicas',
    noCheckpointKeys: 'Aqui nenhum checkpoint é assinado.',
    byHandTitle: 'Como se calcula',
    byHand: [
      '`X-Webhook-Signature`: `sha256=` e o HMAC-SHA256 do corpo, em hexadecimal. A chave é o secret inteiro, como texto, com `whsec_`.',
      '`webhook-signature`: `v1,` e o HMAC-SHA256 de `webhook-id.webhook-timestamp.corpo`, em base64. A chave são os bytes que `whsec_` precede, decodificados de base64. Há uma assinatura por secret em vigor, separadas por espaço.',
    ],
    receiver: 'Um receptor',
    verifier: 'O verificador',
    vectorsTitle: 'Vetores',
    vectors: [
      'Para outra linguagem, prove o seu verificador com estes casos, que devem ser aceitos ou recusados como diz cada um.',
    ],
    rotationTitle: 'Troca do secret',
    rotation: [
      '`POST /v1/webhooks/{id}/segredo` cria um secret novo, que assina já. O anterior assina ao lado por 24 h, em `X-Webhook-Signature-Previous` e em `webhook-signature`. Com `vale_em`, o novo só assina a partir desse instante: guarde antes os dois no receptor.',
    ],
  },
  schedule: {
    title: 'Calendário das tentativas',
    intro: [
      'Uma entrega dá certo com qualquer 2xx em até TIMEOUT s, contados do início da tentativa até a linha de status. Conexão e TLS contam. O corpo da resposta é ignorado.',
      'Qualquer outra resposta, um redirecionamento, um erro de conexão ou de TLS e o fim do prazo são falhas. A entrega é tentada de novo:',
    ],
    attempt: 'Tentativa',
    after: 'Depois do fim da anterior',
    since: 'Desde a primeira, no mínimo',
    atOnce: 'com o commit do evento',
    last: [
      'Depois da última falha a entrega termina em `erro`. `POST /v1/entregas/{id}/reenvio` a recomeça, com o mesmo id e o calendário desde o início.',
      'Cada tentativa envia os mesmos bytes e o mesmo `X-Webhook-Delivery`. Uma entrega pode chegar mais de uma vez: se o receptor fecha a conexão no instante do envio, ou se o poller morre antes de registrar a resposta.',
      'As entregas de um webhook não têm ordem entre si. `X-Webhook-Loan-Version` diz qual evento do empréstimo é mais novo.',
    ],
    outcomes: 'Resultados de uma tentativa',
    statuses: 'Situações de uma entrega',
    word: 'Palavra',
    meaning: 'Significado',
    outcomeMeaning: {
      entregue: '2xx dentro do prazo',
      resposta_nao_2xx: 'outro status, redirecionamento incluído',
      tempo_esgotado: 'nenhuma linha de status dentro do prazo',
      erro_conexao: 'nome sem endereço, conexão recusada ou rompida',
      erro_tls: 'certificado ou handshake recusado',
      destino_recusado: 'o endereço não é público',
      desconhecido: 'o poller morreu antes de registrar; não gasta o calendário',
    },
    statusMeaning: {
      pendente: 'espera a sua vez, ou a resposta de uma tentativa',
      entregue: 'chegou',
      erro: 'as tentativas acabaram',
      suspensa: 'o webhook foi desativado enquanto esperava; `retomar` a envia',
    },
    paceTitle: 'Quantas ao mesmo tempo',
    pace: [
      'As entregas em andamento para um webhook começam em 8. O número cresce com boas respostas, até um limite do operador, e cai com recusas e respostas lentas. Um receptor que não responde recebe uma de cada vez.',
    ],
  },
  registry: {
    title: 'Ponte para o registry',
    intro: [
      'Para o credor: o serviço que o Carteiro pergunta, e que fala com o registry de dados de emprego. `REGISTRY_URL` o nomeia. O repositório tem um exemplo em Python, `src/registry/example/bridge.py`.',
      '`registry serve` sobe o registry simulado como esse serviço; `registry check URL` confere o seu, regra por regra.',
    ],
  },
  api: {
    title: 'API',
    intro: [
      'Cada operação com o que pede e o que responde. A descrição inteira, para geradores de clientes, é OpenAPI 3.1: Postman, Bruno e Insomnia a importam.',
    ],
  },
};

export type DocsTexts = typeof docsPt;
