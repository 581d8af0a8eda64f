/** The pages at /docs in English. */
import type { DocsTexts } from '../pt/docs.ts';

export const docsEn: DocsTexts = {
  menu: 'Documentation',
  pages: {
    start: 'Start',
    events: 'Events',
    verification: 'Verification',
    schedule: 'Schedule',
    api: 'API',
    registry: 'Registry',
  },
  start: {
    title: 'Live in ten minutes',
    intro: [
      'A webhook is a URL and the names of the events that it wants. Each event comes to it as a signed POST. What is lost can always be read again.',
    ],
    steps: [
      {
        title: '1. A token',
        text: [
          'Ask the operator for a token with `webhooks:read` and `webhooks:write`. In the sandbox the page makes one.',
        ],
      },
      {
        title: '2. A receiver on your machine',
        text: [
          'Copy a verifier and write the receiver: verify the signature, store the delivery, answer 2xx. While it has no public address, the command `listen` (Node 24) forwards deliveries to it from the feed of events:',
        ],
      },
      {
        title: '3. The webhook',
        text: ['The `secret` is shown in this answer alone. Keep it where the receiver reads it.'],
      },
      {
        title: '4. A test',
        text: ['The answer tells what the receiver answered. The page shows each attempt.'],
      },
      {
        title: '5. Nothing is lost',
        text: [
          'Deduplicate by `X-Webhook-Delivery`: a delivery may come more than once. After an outage, read the feed from your last cursor, or the loan by `GET /v1/emprestimos/{id}`.',
        ],
      },
    ],
    tokenTitle: 'Authentication',
    token: [
      'A JWT signed with RS256, PS256, ES256 or EdDSA, in `Authorization: Bearer`. It holds `iss`, `aud`, `exp`, `iat`, `sub` and `parceiro_id`, and its scopes in `scope` (separated by spaces) or `scp` (a list).',
    ],
    scope: 'Scope',
    allows: 'Allows',
    egressTitle: 'Where deliveries come from',
    egress: [
      "Allow these addresses and subnets in the receiver's firewall; they are at `GET /v1/enderecos` too. An allowed address does not replace the check of the signature.",
    ],
    noEgress: [
      'The operator promises no outgoing addresses (`GET /v1/enderecos`): do not filter by them, verify the signature.',
    ],
    valuesTitle: 'Values',
    values: [
      'Ids are UUIDs. Instants are ISO 8601 in UTC, with milliseconds. Amounts are numbers in reais, with two decimals at most.',
    ],
  },
  events: {
    title: 'Events',
    intro: [
      'Each event arrives like this: a POST with these headers and this body, on one line. The signature of the examples verifies with the secret `SECRET`.',
    ],
    headers: 'Headers',
    header: 'Header',
    meaning: 'Meaning',
    arrives: 'What arrives',
    sometimes: 'not always',
    eventHeader: "The event's name, equal to the field evento of the body",
  },
  verification: {
    title: 'Verifying the signature',
    intro: [
      'Verify the bytes of the body as they came, before any parsing, in constant time. Refuse with 401 what does not verify.',
      'Copy one file. Each stands alone, with no dependency. `verify` and `verifyBody` take the body, the headers and every secret in force: two while a rotation lasts.',
    ],
    functions: [
      '`verify` reads the headers of Standard Webhooks. It refuses a delivery whose `webhook-timestamp` is more than five minutes from now: nobody can send a recorded delivery again. Use this one.',
      '`verifyBody` (`verify_body`, `VerifyBody`) reads the header of the contract, which signs no time. Deduplicate by `X-Webhook-Delivery`.',
      '`verifyCheckpoint` (`verify_checkpoint`, `VerifyCheckpoint`) holds `X-Carteiro-Checkpoint` against the line that was kept last: see below.',
    ],
    checkpointTitle: 'Checkpoints',
    checkpoint: [
      'Each delivery carries the newest signed head of the log that covers every event and attempt: the log’s name, its number of seals, its root and a signature (Ed25519). Keep the last line: nobody can then change what was sealed before without your noticing, the owner of the database included.',
      'Give `verifyCheckpoint` the header, the public keys, the line that was kept and the address of this API, once the delivery is answered. `ok`: keep the line that it returns. `fork`: keep both lines and tell us. `forged`: no key signed the line. `unknown`: try the next one.',
    ],
    checkpointKeys: 'Public keys',
    noCheckpointKeys: 'No checkpoint is signed here.',
    byHandTitle: 'How it is computed',
    byHand: [
      '`X-Webhook-Signature`: `sha256=` and the HMAC-SHA256 of the body, in hex. The key is the whole secret as text, `whsec_` included.',
      '`webhook-signature`: `v1,` and the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, in base64. The key is what follows `whsec_`, decoded from base64. There is one signature for each secret in force, separated by spaces.',
    ],
    receiver: 'A receiver',
    verifier: 'The verifier',
    vectorsTitle: 'Vectors',
    vectors: [
      'For another language, test your verifier on these cases. Each says whether it must be accepted or refused.',
    ],
    rotationTitle: 'Rotating the secret',
    rotation: [
      '`POST /v1/webhooks/{id}/segredo` makes a new secret, which signs at once. The one before signs beside it for 24 h, in `X-Webhook-Signature-Previous` and in `webhook-signature`. With `vale_em` the new one signs from that instant on: give both to the receiver before.',
    ],
  },
  schedule: {
    title: 'Schedule of attempts',
    intro: [
      'A delivery succeeds with any 2xx within TIMEOUT s, from the start of the attempt to the status line. Connecting and TLS count. The body of the answer is ignored.',
      'Any other answer, a redirect, an error of connection or TLS, and the end of that time are failures. The delivery is tried again:',
    ],
    attempt: 'Attempt',
    after: 'After the end of the one before',
    since: 'Since the first, at least',
    atOnce: 'with the commit of the event',
    last: [
      'After the last failure the delivery ends in `erro`. `POST /v1/entregas/{id}/reenvio` starts it again, with the same id and a fresh schedule.',
      'Each attempt sends the same bytes and the same `X-Webhook-Delivery`. A delivery may come more than once: when the receiver closes the connection just as it is sent, or when the poller dies before it has recorded the answer.',
      'The deliveries of a webhook have no order among each other. `X-Webhook-Loan-Version` tells which event of a loan is newer.',
    ],
    outcomes: 'Outcomes of an attempt',
    statuses: 'States of a delivery',
    word: 'Word',
    meaning: 'Meaning',
    outcomeMeaning: {
      entregue: '2xx in time',
      resposta_nao_2xx: 'another status, redirects included',
      tempo_esgotado: 'no status line in time',
      erro_conexao: 'a name without an address, a connection refused or broken',
      erro_tls: 'the certificate or the handshake was refused',
      destino_recusado: 'the address is not public',
      desconhecido: 'the poller died before it recorded; it costs no attempt of the schedule',
    },
    statusMeaning: {
      pendente: 'waits for its time, or for the answer of an attempt',
      entregue: 'arrived',
      erro: 'no attempt is left',
      suspensa: 'its webhook was deactivated while it waited; `retomar` sends it',
    },
    paceTitle: 'How many at once',
    pace: [
      'The deliveries in flight to a webhook begin at 8. The number grows with good answers, up to a cap of the operator, and falls with refusals and slow answers. A receiver that does not answer gets one at a time.',
    ],
  },
  registry: {
    title: 'Bridge to the registry',
    intro: [
      'For the lender: the service that Carteiro asks, and that speaks to the employment-data registry. `REGISTRY_URL` names it. The repository has an example in Python, `src/registry/example/bridge.py`.',
      '`registry serve` runs the simulated registry as that service; `registry check URL` checks yours, rule by rule.',
    ],
  },
  api: {
    title: 'API',
    intro: [
      'Each operation with what it takes and what it answers. The whole description, for client generators, is OpenAPI 3.1: Postman, Bruno and Insomnia import it.',
    ],
  },
};
