/** What each check is called, what it sends, and how to mend a receiver that fails it. */
import { type CheckWords, RAW, REFUSED_WORDS } from './refused-words.ts';
import type { Bilingual } from '../language.ts';

/** Of the answers, in milliseconds: the limit is 30 s, and whoever needs more than this has no reserve. */
export const PROMPT_MS = 5_000;

const READ_AS_JSON: Bilingual = {
  pt: 'Verifique a assinatura sobre os bytes e depois leia o corpo como JSON em UTF-8, sem outra conversão de caracteres.',
  en: 'Verify the signature over the bytes, then read the body as JSON in UTF-8, without another conversion of characters.',
};
const ONCE: Bilingual = {
  pt: 'Responda 2xx também a uma entrega que já tem: guarde X-Webhook-Delivery numa chave única, e trate o conflito como sucesso.',
  en: 'Answer 2xx to a delivery that you have already, too: keep X-Webhook-Delivery under a unique key, and take the conflict for a success.',
};
const BOTH_SECRETS: Bilingual = {
  pt: 'Durante uma rotação webhook-signature traz duas assinaturas, separadas por um espaço, e X-Webhook-Signature-Previous a do secret anterior: aceite a entrega quando uma delas for a de um secret seu.',
  en: 'During a rotation webhook-signature has two signatures, separated by a space, and X-Webhook-Signature-Previous the one of the secret before: accept the delivery when one of them is by a secret of yours.',
};
const TOLERATE: Bilingual = {
  pt: 'Leia só os campos de que precisa, e responda 2xx ao que não conhece.',
  en: 'Read only the fields that you need, and answer 2xx to what you do not know.',
};
const LATER: Bilingual = {
  pt: 'Guarde a entrega, responda, e trabalhe nela depois; atenda várias conexões ao mesmo tempo.',
  en: 'Store the delivery, answer, and work on it afterwards; serve several connections at the same time.',
};

export const CHECK_WORDS = {
  ...REFUSED_WORDS,
  propria: {
    title: { pt: 'Aceita uma entrega nossa', en: 'Takes a delivery of ours' },
    sent: {
      pt: 'o exemplo de um evento que o webhook recebe, assinado pelo seu secret',
      en: 'the example of an event that the webhook gets, signed by its secret',
    },
    mend: {
      pt: 'Confira a URL, que redirecionamentos não são seguidos, o secret (inteiro, com whsec_) e que a assinatura é verificada sobre os bytes do corpo. Onde não houve resposta (ECONNREFUSED), confira que o receptor escuta nesse endereço e nessa porta. Um 401 ou 403 também vem de um gateway que recusou as credenciais do webhook. Os outros testes esperam por este.',
      en: 'Check the URL, that redirects are not followed, the secret (all of it, with whsec_), and that the signature is verified over the bytes of the body. Where there was no answer (ECONNREFUSED), check that the receiver listens at that address and port. A 401 or 403 may come of a gateway, too, that refused the credentials of the webhook. The other checks wait for this one.',
    },
  },
  bytes_exatos: {
    title: { pt: 'Verifica os bytes como chegaram', en: 'Verifies the bytes as they came' },
    sent: {
      pt: 'um corpo com escapes, `\\/` e um zero no fim de um número, que nenhum programa escreve de novo assim',
      en: 'a body with escapes, `\\/` and a zero at the end of a number, which no program writes again like that',
    },
    mend: RAW,
  },
  rotacao_atual: {
    title: {
      pt: 'Aceita uma rotação, com o seu secret como o novo',
      en: 'Takes a rotation, with your secret as the new one',
    },
    sent: {
      pt: 'uma entrega assinada pelo seu secret e por outro, que seria o anterior',
      en: 'a delivery signed by your secret and by another, which would be the one before',
    },
    mend: BOTH_SECRETS,
  },
  rotacao_anterior: {
    title: {
      pt: 'Aceita uma rotação, com o seu secret como o anterior',
      en: 'Takes a rotation, with your secret as the one before',
    },
    sent: {
      pt: 'uma entrega assinada por outro secret, que seria o novo, e pelo seu',
      en: 'a delivery signed by another secret, which would be the new one, and by yours',
    },
    mend: BOTH_SECRETS,
  },
  duplicata: {
    title: { pt: 'Aceita a mesma entrega duas vezes', en: 'Takes the same delivery twice' },
    sent: {
      pt: 'a mesma entrega, com o mesmo X-Webhook-Delivery, duas vezes',
      en: 'the same delivery, with the same X-Webhook-Delivery, twice',
    },
    mend: ONCE,
  },
  duplicata_simultanea: {
    title: {
      pt: 'Aceita a mesma entrega duas vezes ao mesmo tempo',
      en: 'Takes the same delivery twice at the same time',
    },
    sent: {
      pt: 'a mesma entrega, por duas conexões ao mesmo tempo',
      en: 'the same delivery, over two connections at the same time',
    },
    mend: ONCE,
  },
  fora_de_ordem: {
    title: { pt: 'Aceita eventos fora de ordem', en: 'Takes events out of order' },
    sent: {
      pt: 'de um empréstimo, o evento da versão 5 e depois o da versão 4 (X-Webhook-Loan-Version)',
      en: 'of one loan, the event of version 5 and then that of version 4 (X-Webhook-Loan-Version)',
    },
    mend: {
      pt: 'Responda 2xx também ao evento de uma versão menor que a sua, e ignore-o.',
      en: 'Answer 2xx to an event of a lower version than yours, too, and ignore it.',
    },
  },
  chave_desconhecida: {
    title: { pt: 'Aceita um campo desconhecido em data', en: 'Takes an unknown field in data' },
    sent: { pt: 'um evento com `campo_novo` em data', en: 'an event with `campo_novo` in data' },
    mend: TOLERATE,
  },
  nulo: {
    title: { pt: 'Aceita null', en: 'Takes null' },
    sent: { pt: 'margem.concluida com margem_percentual null', en: 'margem.concluida with margem_percentual null' },
    mend: {
      pt: 'margem_percentual é null quando não há vencimentos: aceite-o.',
      en: 'margem_percentual is null where there are no earnings: take it.',
    },
  },
  corpo_64_kib: {
    title: { pt: 'Aceita um corpo de 64 KiB', en: 'Takes a body of 64 KiB' },
    sent: {
      pt: 'averbacao.falhou com um texto longo, 65.536 bytes ao todo',
      en: 'averbacao.falhou with a long text, 65,536 bytes in all',
    },
    mend: {
      pt: 'Permita corpos de 64 KiB ao menos, no servidor, no proxy e no framework.',
      en: 'Allow bodies of 64 KiB at least, in the server, the proxy and the framework.',
    },
  },
  acentos: {
    title: { pt: 'Aceita letras fora do ASCII', en: 'Takes letters beyond ASCII' },
    sent: { pt: 'um nome com acentos e um emoji, em UTF-8', en: 'a name with accents and an emoji, in UTF-8' },
    mend: READ_AS_JSON,
  },
  separador_u2028: {
    title: { pt: 'Aceita U+2028 e U+2029', en: 'Takes U+2028 and U+2029' },
    sent: {
      pt: 'um nome com os separadores de linha e de parágrafo do Unicode',
      en: "a name with Unicode's separators of lines and paragraphs",
    },
    mend: READ_AS_JSON,
  },
  cnpj_alfanumerico: {
    title: { pt: 'Aceita um CNPJ alfanumérico', en: 'Takes an alphanumeric CNPJ' },
    sent: { pt: 'eventos com o CNPJ 12ABC34501DE35', en: 'events with the CNPJ 12ABC34501DE35' },
    mend: {
      pt: 'Um CNPJ de 2026 tem letras: guarde-o como texto de 14 caracteres, [0-9A-Z]{12}[0-9]{2}.',
      en: 'A CNPJ of 2026 has letters: keep it as a text of 14 characters, [0-9A-Z]{12}[0-9]{2}.',
    },
  },
  sem_parceiro_id: {
    title: { pt: 'Aceita o envelope sem parceiro_id', en: 'Takes the envelope without parceiro_id' },
    sent: {
      pt: 'um evento sem parceiro_id, como os do leilão',
      en: "an event without parceiro_id, like the auction's",
    },
    mend: {
      pt: 'A família do leilão não tem parceiro_id: não o exija.',
      en: 'The auction family has no parceiro_id: do not require it.',
    },
  },
  evento_desconhecido: {
    title: { pt: 'Aceita um evento que não conhece', en: 'Takes an event that it does not know' },
    sent: { pt: 'um evento de nome homologacao.evento_novo', en: 'an event of the name homologacao.evento_novo' },
    mend: TOLERATE,
  },
  dez_ao_mesmo_tempo: {
    title: { pt: 'Aceita dez entregas ao mesmo tempo', en: 'Takes ten deliveries at the same time' },
    sent: {
      pt: 'dez entregas, por dez conexões ao mesmo tempo',
      en: 'ten deliveries, over ten connections at the same time',
    },
    mend: LATER,
  },
  conexao_ociosa: {
    title: {
      pt: 'Aceita uma entrega depois de um minuto de silêncio',
      en: 'Takes a delivery after a minute of silence',
    },
    sent: { pt: 'uma entrega, um minuto de silêncio, e outra', en: 'a delivery, a minute of silence, and another' },
    mend: {
      pt: 'Feche uma conexão que não quer mais, ou responda por ela: não a deixe aberta sem ler.',
      en: 'Close a connection that you no longer want, or answer on it: do not leave it open without reading.',
    },
  },
  resposta_simples: {
    title: { pt: 'Responde como um receptor de webhooks', en: 'Answers as a receiver of webhooks' },
    sent: { pt: 'nada mais: olhamos as respostas 2xx', en: 'nothing more: we looked at the 2xx answers' },
    mend: {
      pt: 'Uma página HTML ou mais de 8 KiB mostram que outro responde, como uma tela de login: dê à rota do webhook uma resposta curta, como 204.',
      en: "A page of HTML or more than 8 KiB shows that somebody else answers, such as a login: give the webhook's route a short answer, such as 204.",
    },
  },
  prazo: {
    title: { pt: `Responde em ${PROMPT_MS / 1_000} s`, en: `Answers within ${PROMPT_MS / 1_000} s` },
    sent: { pt: 'nada mais: medimos as respostas 2xx', en: 'nothing more: we measured the 2xx answers' },
    mend: LATER,
  },
} satisfies Readonly<Record<string, CheckWords>>;

export type CheckCode = keyof typeof CHECK_WORDS;
