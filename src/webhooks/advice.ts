/** The meaning of an attempt's outcome for the receiver's operator, and what to do next: for alerts and the page. Pure. */
import type { Bilingual } from '../contract/language.ts';
import type { Outcome } from '../contract/statuses.ts';

export interface Advice {
  readonly cause: Bilingual;
  readonly next: Bilingual;
}

const say = (cause: readonly [pt: string, en: string], next: readonly [pt: string, en: string]): Advice => ({
  cause: { pt: cause[0], en: cause[1] },
  next: { pt: next[0], en: next[1] },
});

const answered = (code: number) => [`o receptor respondeu HTTP ${code}`, `the receiver answered HTTP ${code}`] as const;

/** `outcome` is not `entregue`. `isHtml`: the answer was a page. */
export function adviceOf(outcome: Exclude<Outcome, 'entregue'>, statusCode: number | null, isHtml = false): Advice {
  if (outcome !== 'resposta_nao_2xx' || statusCode === null) return WITHOUT_ANSWER[outcome];
  const cause = answered(statusCode);
  const found = BY_STATUS.find(({ codes }) => codes.includes(statusCode));
  if (isHtml && statusCode !== 401) {
    return say(
      [`${cause[0]} com uma página HTML`, `${cause[1]} with an HTML page`],
      [
        'Um proxy, um WAF ou uma página de login respondeu no lugar do receptor. Se ele pede credenciais, cadastre-as neste webhook; se já estão lá, ele as recusou: confira-as. Senão, libere o caminho da URL para POST sem login, e confira a URL.',
        'A proxy, a firewall or a login page answered in place of the receiver. If it demands credentials, set them on this webhook; if they are there, it has refused them: check them. Else let POST to the path of the URL pass without a login, and check the URL.',
      ],
    );
  }
  if (found !== undefined) return say(cause, found.next);
  return say(cause, statusCode >= 500 ? SERVER_FAULT : OTHER_REFUSAL);
}

const SERVER_FAULT = [
  'O receptor falhou. Procure no log dele o X-Webhook-Delivery desta entrega e corrija a falha; responda 2xx depois de guardar o evento.',
  "The receiver failed. Look for this delivery's X-Webhook-Delivery in its log and mend the fault; answer 2xx once the event is kept.",
] as const;
const OTHER_REFUSAL = [
  'O receptor recusou o POST. Aceite campos que ainda não conhece, e responda 2xx também a eventos que não usa.',
  'The receiver refused the POST. Accept fields that you do not know yet, and answer 2xx to events that you do not use, too.',
] as const;

const BY_STATUS: readonly { readonly codes: readonly number[]; readonly next: readonly [pt: string, en: string] }[] = [
  {
    codes: [401],
    next: [
      'O secret do receptor não é o deste webhook, ou o HMAC foi feito do corpo já interpretado: calcule-o dos bytes do corpo como chegaram, antes de ler o JSON. Se um gateway à frente pede credenciais, cadastre-as neste webhook; se já estão lá, ele as recusou: confira-as.',
      "The receiver's secret is not this webhook's, or the HMAC was made of the parsed body: compute it of the body's bytes as they came, before reading the JSON. If a gateway in front demands credentials, set them on this webhook; if they are there, it has refused them: check them.",
    ],
  },
  {
    codes: [403, 407],
    next: [
      'Um firewall ou gateway recusou o POST: libere o caminho da URL e os nossos endereços de saída (/docs), ou cadastre as credenciais que ele pede; se já estão no webhook, ele as recusou: confira-as.',
      "A firewall or gateway refused the POST: let the URL's path and our addresses (/docs) pass, or set the credentials that it demands; if the webhook has them, it has refused them: check them.",
    ],
  },
  {
    codes: [404, 405, 410],
    next: [
      'A URL não leva ao receptor, ou ele não aceita POST ali: confira caminho e método, e troque a URL do webhook se ela mudou.',
      'The URL does not lead to the receiver, or it takes no POST there: check path and method, and change the URL of the webhook if it moved.',
    ],
  },
  {
    codes: [300, 301, 302, 303, 307, 308],
    next: [
      'Redirecionamentos não são seguidos: cadastre a URL final, com https e sem barra a mais ou a menos.',
      'Redirects are not followed: register the final URL, with https and neither a slash more nor less.',
    ],
  },
  {
    codes: [413],
    next: [
      'O receptor limita o tamanho do corpo: aceite 64 KiB.',
      'The receiver limits the size of the body: accept 64 KiB.',
    ],
  },
  {
    codes: [429, 503],
    next: [
      'O receptor está sobrecarregado ou fora do ar: responda 2xx logo e trabalhe depois. Os envios já diminuem sozinhos.',
      'The receiver is overloaded or down: answer 2xx at once and work afterwards. Sending slows down by itself.',
    ],
  },
  {
    codes: [502, 504],
    next: [
      'O proxy do receptor não alcança a aplicação, ou ela demora: confira se ela está no ar e o tempo limite do proxy.',
      "The receiver's proxy does not reach the application, or it takes too long: see that it is up, and the proxy's time limit.",
    ],
  },
];

const WITHOUT_ANSWER: Readonly<Record<Exclude<Outcome, 'entregue'>, Advice>> = {
  resposta_nao_2xx: say(['o receptor não respondeu 2xx', 'the receiver did not answer 2xx'], OTHER_REFUSAL),
  tempo_esgotado: say(
    ['o receptor não respondeu em 30 s', 'the receiver did not answer within 30 s'],
    [
      'Guarde o evento, responda 2xx e só depois trabalhe. Se nem a conexão abriu, confira firewall e rota.',
      'Keep the event, answer 2xx, and work only then. If not even the connection opened, check firewall and route.',
    ],
  ),
  erro_conexao: say(
    ['a conexão com o receptor falhou', 'the connection to the receiver failed'],
    [
      'Confira se o receptor está no ar, o nome no DNS, a porta, e se o firewall deixa passar os nossos endereços (/docs).',
      'See that the receiver is up, its name in the DNS, the port, and that the firewall lets our addresses (/docs) pass.',
    ],
  ),
  erro_tls: say(
    ['o TLS com o receptor falhou', 'TLS with the receiver failed'],
    [
      'Confira validade, nome e cadeia do certificado: o servidor deve enviar também os intermediários, e a sua autoridade deve ser pública: numa privada só o operador pode confiar. Se ele pede um certificado de cliente, cadastre-o nas credenciais.',
      "Check the certificate's dates, name and chain: the server must send the intermediates too, and its authority must be a public one: a private one is for the operator to trust. If it demands a client certificate, set it among the credentials.",
    ],
  ),
  erro_autorizacao: say(
    ['o servidor de tokens do receptor não deu um token', "the receiver's token server gave no token"],
    [
      'Nada foi enviado. Confira token_url, client_id, client_secret e escopo nas credenciais do webhook, e se o servidor de tokens está no ar.',
      "Nothing was sent. Check token_url, client_id, client_secret and scope among the webhook's credentials, and that the token server is up.",
    ],
  ),
  destino_recusado: say(
    ['a URL leva a um endereço que não pode receber', 'the URL leads to an address that may not receive'],
    [
      'O nome resolve para um endereço privado ou reservado: publique o receptor num endereço público.',
      'The name resolves to a private or reserved address: publish the receiver at a public one.',
    ],
  ),
  desconhecido: say(
    ['o envio foi interrompido do nosso lado', 'the sending was cut off on our side'],
    [
      'Não há o que fazer: a entrega é tentada de novo. O POST pode ter chegado; ele traz o mesmo X-Webhook-Delivery.',
      'There is nothing to do: the delivery is tried again. The POST may have arrived; it bears the same X-Webhook-Delivery.',
    ],
  ),
};
