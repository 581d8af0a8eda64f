import { rules } from './rules.ts';
import { schedule } from './schedule.ts';
import type { Words } from './words.ts';

export const docs = {
  menu: { pt: 'Documentação', en: 'Documentation' },
  pages: {
    start: { pt: 'Começo', en: 'Start' },
    events: { pt: 'Eventos', en: 'Events' },
    verification: { pt: 'Verificação', en: 'Verification' },
    schedule: { pt: 'Calendário', en: 'Schedule' },
    rules: { pt: 'Regras', en: 'Rules' },
    changes: { pt: 'Mudanças', en: 'Changes' },
    api: { pt: 'API', en: 'API' },
    registry: { pt: 'Registry', en: 'Registry' },
  },
  start: {
    title: { pt: 'No ar em dez minutos', en: 'Live in ten minutes' },
    intro: {
      pt: 'Um webhook é uma URL e os nomes dos eventos que ela quer. Cada evento chega a ela como um POST assinado. O que se perde pode sempre ser lido de novo.',
      en: 'A webhook is a URL and the names of the events that it wants. Each event comes to it as a signed POST. What is lost can always be read again.',
    },
    steps: [
      {
        title: { pt: '1. Um token', en: '1. A token' },
        how: {
          pt: 'Peça ao operador um token com `webhooks:read` e `webhooks:write`. No sandbox, o painel faz um.',
          en: 'Ask the operator for a token with `webhooks:read` and `webhooks:write`. In the sandbox the page makes one.',
        },
      },
      {
        title: { pt: '2. Um receptor na sua máquina', en: '2. A receiver on your machine' },
        how: {
          pt: 'Copie um verificador e escreva o receptor: confira a assinatura, guarde a entrega, responda 2xx. Enquanto ele não tem endereço público, o comando `listen` (Node 24) lhe encaminha as entregas a partir do fluxo de eventos:',
          en: 'Copy a verifier and write the receiver: verify the signature, store the delivery, answer 2xx. While it has no public address, the command `listen` (Node 24) forwards deliveries to it from the feed of events:',
        },
      },
      {
        title: { pt: '3. O webhook', en: '3. The webhook' },
        how: {
          pt: 'O `secret` só aparece nesta resposta. Guarde-o onde o receptor o lê.',
          en: 'The `secret` is shown in this answer alone. Keep it where the receiver reads it.',
        },
      },
      {
        title: { pt: '4. Um teste e a homologação', en: '4. A test and the conformance run' },
        how: {
          pt: 'A resposta do teste diz o que o receptor respondeu. A homologação leva pouco mais de um minuto; onde algo falha, ela diz como corrigir. A última linha a faz na sua máquina, sem endereço público: `CARTEIRO_SECRET` assina, e é um dos que o receptor tem em `CARTEIRO_SECRETS`. O que ela verifica está em Verificação.',
          en: 'The answer of the test tells what the receiver answered. The conformance run takes a little over a minute; where something fails, it tells how to mend it. The last line makes it on your machine, without a public address: `CARTEIRO_SECRET` signs, and is one of those that the receiver has in `CARTEIRO_SECRETS`. What it checks is listed under Verification.',
        },
      },
      {
        title: { pt: '5. Nada se perde', en: '5. Nothing is lost' },
        how: {
          pt: 'Deduplique por `X-Webhook-Delivery`: uma entrega pode chegar mais de uma vez, e a repetida também se responde com 2xx. Depois de uma parada, leia o fluxo a partir do último cursor, ou o empréstimo por `GET /v1/emprestimos/{id}`.',
          en: 'Deduplicate by `X-Webhook-Delivery`: a delivery may come more than once, and the repeated one is answered 2xx, too. After an outage, read the feed from your last cursor, or the loan by `GET /v1/emprestimos/{id}`.',
        },
      },
    ],
    tokenTitle: { pt: 'Autenticação', en: 'Authentication' },
    token: {
      pt: 'Um JWT assinado com RS256, PS256, ES256 ou EdDSA, em `Authorization: Bearer`. Ele traz `iss`, `aud`, `exp`, `iat`, `sub` e `parceiro_id`, e os escopos em `scope` (separados por espaços) ou `scp` (uma lista).',
      en: 'A JWT signed with RS256, PS256, ES256 or EdDSA, in `Authorization: Bearer`. It holds `iss`, `aud`, `exp`, `iat`, `sub` and `parceiro_id`, and its scopes in `scope` (separated by spaces) or `scp` (a list).',
    },
    scope: { pt: 'Escopo', en: 'Scope' },
    allows: { pt: 'Permite', en: 'Allows' },
    egressTitle: { pt: 'De onde partem as entregas', en: 'Where deliveries come from' },
    egress: {
      pt: 'Libere estes endereços e sub-redes no firewall do receptor, também em `GET /v1/enderecos`. Um endereço permitido não dispensa a verificação da assinatura.',
      en: "Allow these addresses and subnets in the receiver's firewall; they are at `GET /v1/enderecos` too. An allowed address does not replace the check of the signature.",
    },
    noEgress: {
      pt: 'O operador não promete endereços de saída (`GET /v1/enderecos`): não filtre por eles, verifique a assinatura.',
      en: 'The operator promises no outgoing addresses (`GET /v1/enderecos`): do not filter by them, verify the signature.',
    },
    gatewaysTitle: { pt: 'Um gateway diante do receptor', en: 'A gateway before the receiver' },
    gateways: {
      pt: 'Uma linha para cada tipo; tipos se combinam em um só corpo. O token vai sem "Bearer" à frente, o certificado com os intermediários atrás, a chave sem senha; as quebras de linha de um PEM são `\\n` no JSON. O certificado do gateway deve ser de uma autoridade pública; numa privada só o operador pode confiar.',
      en: 'A line for each kind; kinds combine in one body. The token goes without "Bearer" before it, the certificate with its intermediates behind it, the key without a password; the line breaks of a PEM are `\\n` in JSON. The certificate of the gateway must be of a public authority; a private one is for the operator to trust.',
    },
    valuesTitle: { pt: 'Valores', en: 'Values' },
    values: {
      pt: 'Ids são UUIDs. Instantes são ISO 8601 em UTC, com milissegundos. Valores são números em reais, com no máximo duas casas.',
      en: 'Ids are UUIDs. Instants are ISO 8601 in UTC, with milliseconds. Amounts are numbers in reais, with two decimals at most.',
    },
  },
  /** /llms.txt, which leads programs to the documentation. */
  markdown: {
    what: {
      pt: 'Webhooks do crédito consignado: cada evento chega como um POST assinado, repetido até ser aceito.',
      en: 'Webhooks of payroll credit: each event comes as a signed POST, retried until it is accepted.',
    },
    whole: {
      pt: 'A integração inteira numa página: começo, regras, eventos, verificação, calendário',
      en: 'The whole integration on one page: start, rules, events, verification, schedule',
    },
    operations: { pt: 'Cada operação, em OpenAPI 3.1', en: 'Each operation, in OpenAPI 3.1' },
    receivers: { pt: 'Verificadores para copiar', en: 'Verifiers to copy' },
  },
  events: {
    title: { pt: 'Eventos', en: 'Events' },
    intro: {
      pt: 'Assim chega cada evento: um POST com estes cabeçalhos e este corpo, em uma linha. A assinatura dos exemplos confere com o secret `SECRET`.',
      en: 'Each event arrives like this: a POST with these headers and this body, on one line. The signature of the examples verifies with the secret `SECRET`.',
    },
    headers: { pt: 'Cabeçalhos', en: 'Headers' },
    header: { pt: 'Cabeçalho', en: 'Header' },
    meaning: { pt: 'Significado', en: 'Meaning' },
    arrives: { pt: 'O que chega', en: 'What arrives' },
    test: { pt: 'Um teste', en: 'A test' },
    sometimes: { pt: 'nem sempre', en: 'not always' },
    eventHeader: {
      pt: 'O nome do evento, igual ao campo evento do corpo',
      en: "The event's name, equal to the field evento of the body",
    },
  },
  changes: {
    title: { pt: 'Mudanças por versão', en: 'Changes by version' },
    intro: {
      pt: 'O que cada versão da interface trouxe. Nada do que havia mudou de nome nem saiu.',
      en: 'What each version of the interface brought. Nothing that there was has another name or has gone.',
    },
    version: { pt: 'Versão', en: 'Version' },
    operations: { pt: 'Operações', en: 'Operations' },
    what: { pt: 'O que faz', en: 'What it does' },
    events: { pt: 'Eventos', en: 'Events' },
    fields: { pt: 'Campos', en: 'Fields' },
  },
  verification: {
    title: { pt: 'Verificação da assinatura', en: 'Verifying the signature' },
    intro: [
      {
        pt: 'Confira os bytes do corpo como chegaram, antes de qualquer análise, em tempo constante. Recuse com 401 o que não confere.',
        en: 'Verify the bytes of the body as they came, before any parsing, in constant time. Refuse with 401 what does not verify.',
      },
      {
        pt: 'Copie um arquivo. Cada um basta a si mesmo, sem dependências. `verify` e `verifyBody` recebem o corpo, os cabeçalhos e todos os secrets em vigor: dois, enquanto dura uma troca.',
        en: 'Copy one file. Each stands alone, with no dependency. `verify` and `verifyBody` take the body, the headers and every secret in force: two while a rotation lasts.',
      },
    ],
    download: { pt: 'Baixar', en: 'Download' },
    functions: [
      {
        pt: '`verify` lê os cabeçalhos do Standard Webhooks. Recusa uma entrega cujo `webhook-timestamp` está a mais de cinco minutos de agora: ninguém repete uma entrega gravada. Use esta.',
        en: '`verify` reads the headers of Standard Webhooks. It refuses a delivery whose `webhook-timestamp` is more than five minutes from now: nobody can send a recorded delivery again. Use this one.',
      },
      {
        pt: '`verifyBody` (`verify_body`, `VerifyBody`) lê o cabeçalho do contrato, que não assina o tempo. Deduplique por `X-Webhook-Delivery`.',
        en: '`verifyBody` (`verify_body`, `VerifyBody`) reads the header of the contract, which signs no time. Deduplicate by `X-Webhook-Delivery`.',
      },
      {
        pt: '`verifyCheckpoint` (`verify_checkpoint`, `VerifyCheckpoint`) confere `X-Carteiro-Checkpoint` com a última linha guardada: veja abaixo. PHP, Ruby e C# não a têm.',
        en: '`verifyCheckpoint` (`verify_checkpoint`, `VerifyCheckpoint`) holds `X-Carteiro-Checkpoint` against the line that was kept last: see below. PHP, Ruby and C# do not have it.',
      },
    ],
    recipesTitle: { pt: 'No seu framework', en: 'In your framework' },
    recipes: {
      pt: 'A mesma rota em cada framework, com o que ele faz antes dela: o corpo já interpretado, o token CSRF. Ela usa o verificador da sua linguagem, que fica ao lado. Cada uma passa a homologação no seu framework, menos a do ASP.NET, que ainda não executamos.',
      en: 'The same route in each framework, with what that does ahead of it: a body that is parsed already, the CSRF token. It uses the verifier of its language, which lies beside it. Each passes the conformance run in its framework, but for the one of ASP.NET, which we have not run yet.',
    },
    checkpointTitle: { pt: 'Checkpoints', en: 'Checkpoints' },
    checkpoint: [
      {
        pt: 'Cada entrega traz a cabeça assinada mais nova do log que cobre todos os eventos e tentativas: o nome do log, o número de selos, a raiz e uma assinatura (Ed25519). Guarde a última linha: ninguém muda depois o que já foi selado sem que você note, nem o dono do banco de dados.',
        en: 'Each delivery carries the newest signed head of the log that covers every event and attempt: the log’s name, its number of seals, its root and a signature (Ed25519). Keep the last line: nobody can then change what was sealed before without your noticing, the owner of the database included.',
      },
      {
        pt: 'Dê a `verifyCheckpoint` o cabeçalho, as chaves públicas, o texto guardado e o endereço desta API, depois de responder à entrega. Guarde o texto que ela devolve. `fork`: guarde as duas linhas e avise-nos. `parado`: a linha é mais velha que a guardada, ou a mesma há mais de um dia, enquanto chegam entregas; `adiantado`: tem mais selos que o log desta API; avise-nos se durar uma hora. `forged`: nenhuma chave assinou a linha. `unknown`: tente com a próxima.',
        en: 'Give `verifyCheckpoint` the header, the public keys, the text that was kept and the address of this API, once the delivery is answered. Keep the text that it returns. `fork`: keep both lines and tell us. `parado`: the line is older than the kept one, or the same for more than a day while deliveries arrive; `adiantado`: it has more seals than this API’s log; tell us where that lasts for an hour. `forged`: no key signed the line. `unknown`: try the next one.',
      },
    ],
    checkpointKeys: { pt: 'Chaves públicas', en: 'Public keys' },
    noCheckpointKeys: { pt: 'Aqui nenhum checkpoint é assinado.', en: 'No checkpoint is signed here.' },
    byHandTitle: { pt: 'Como se calcula', en: 'How it is computed' },
    byHand: [
      {
        pt: '`X-Webhook-Signature`: `sha256=` e o HMAC-SHA256 do corpo, em hexadecimal. A chave é o secret inteiro, como texto, com `whsec_`.',
        en: '`X-Webhook-Signature`: `sha256=` and the HMAC-SHA256 of the body, in hex. The key is the whole secret as text, `whsec_` included.',
      },
      {
        pt: '`webhook-signature`: `v1,` e o HMAC-SHA256 de `webhook-id.webhook-timestamp.corpo`, em base64. A chave são os bytes que `whsec_` precede, decodificados de base64. Há uma assinatura por secret em vigor, separadas por espaço.',
        en: '`webhook-signature`: `v1,` and the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, in base64. The key is what follows `whsec_`, decoded from base64. There is one signature for each secret in force, separated by spaces.',
      },
    ],
    receiver: { pt: 'Um receptor', en: 'A receiver' },
    verifier: { pt: 'O verificador', en: 'The verifier' },
    vectorsTitle: { pt: 'Vetores', en: 'Vectors' },
    vectors: {
      pt: 'Para outra linguagem, prove o seu verificador com estes casos, que devem ser aceitos ou recusados como diz cada um.',
      en: 'For another language, test your verifier on these cases. Each says whether it must be accepted or refused.',
    },
    checksTitle: {
      pt: 'Homologação: o que um receptor recusa e aceita',
      en: 'Conformance: what a receiver refuses and takes',
    },
    checks: [
      {
        pt: '`POST /v1/webhooks/{id}/homologacao` responde com o `homologacao_id`. `GET /v1/webhooks/{id}/homologacao/{homologacao_id}` diz o `estado`: `em_andamento` até o fim, depois `aprovada`, `reprovada` (uma verificação falhou) ou `interrompida` (peça outra). De cada verificação há `codigo`, `resultado` e `detalhe`: o que enviamos, o que veio e como corrigir. `listen --homologar` faz o mesmo na sua máquina.',
        en: '`POST /v1/webhooks/{id}/homologacao` answers with the `homologacao_id`. `GET /v1/webhooks/{id}/homologacao/{homologacao_id}` tells the `estado`: `em_andamento` to the end, then `aprovada`, `reprovada` (a check failed) or `interrompida` (ask for another). Of each check there are `codigo`, `resultado` and `detalhe`: what we sent, what came and how to mend it. `listen --homologar` does the same on your machine.',
      },
      {
        pt: '`resultado` é `passou`, `falhou` ou `nao_se_aplica`. Este último não reprova o receptor: ele não lê a assinatura de que a verificação trata, por exemplo `X-Webhook-Signature-Previous`, ou a primeira entrega não foi aceita e o resto não se pôde julgar.',
        en: '`resultado` is `passou`, `falhou` or `nao_se_aplica`. The last one is no failure: the receiver does not read the signature that the check is about, for instance `X-Webhook-Signature-Previous`, or the first delivery was not taken and nothing else could be judged.',
      },
    ],
    check: { pt: 'Verificação', en: 'Check' },
    sent: { pt: 'O que enviamos', en: 'What we send' },
    passes: { pt: 'Como passar', en: 'How to pass' },
    rotationTitle: { pt: 'Troca do secret', en: 'Rotating the secret' },
    rotation: {
      pt: '`POST /v1/webhooks/{id}/segredo` cria um secret novo, que assina já. O anterior assina ao lado por 24 h, em `X-Webhook-Signature-Previous` e em `webhook-signature`. Com `vale_em`, o novo só assina a partir desse instante: guarde antes os dois no receptor.',
      en: '`POST /v1/webhooks/{id}/segredo` makes a new secret, which signs at once. The one before signs beside it for 24 h, in `X-Webhook-Signature-Previous` and in `webhook-signature`. With `vale_em` the new one signs from that instant on: give both to the receiver before.',
    },
  },
  schedule,
  rules,
  registry: {
    title: { pt: 'Ponte para o registry', en: 'Bridge to the registry' },
    intro: [
      {
        pt: 'Para o credor: o serviço que o Carteiro pergunta, e que fala com o registry de dados de emprego. `REGISTRY_URL` o nomeia. O repositório tem um exemplo em Python, `src/registry/example/bridge.py`.',
        en: 'For the lender: the service that Carteiro asks, and that speaks to the employment-data registry. `REGISTRY_URL` names it. The repository has an example in Python, `src/registry/example/bridge.py`.',
      },
      {
        pt: '`registry serve` sobe o registry simulado como esse serviço; `registry check URL` confere o seu, regra por regra.',
        en: '`registry serve` runs the simulated registry as that service; `registry check URL` checks yours, rule by rule.',
      },
    ],
  },
  api: {
    title: { pt: 'API', en: 'API' },
    intro: {
      pt: 'Cada operação com o que pede e o que responde. A descrição inteira, para geradores de clientes, é OpenAPI 3.1: Postman, Bruno e Insomnia a importam.',
      en: 'Each operation with what it takes and what it answers. The whole description, for client generators, is OpenAPI 3.1: Postman, Bruno and Insomnia import it.',
    },
  },
} satisfies Words;
