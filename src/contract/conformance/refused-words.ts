/** Words of the checks of what a receiver must refuse. */
import type { Bilingual } from '../language.ts';

export interface CheckWords {
  readonly title: Bilingual;
  readonly sent: Bilingual;
  readonly mend: Bilingual;
}

const VERIFY: Bilingual = {
  pt: 'Calcule o HMAC dos bytes recebidos com o secret, compare-o inteiro e em tempo constante com o cabeçalho, e responda 401 quando não for igual.',
  en: 'Compute the HMAC of the received bytes by the secret, compare all of it with the header in constant time, and answer 401 when it is not equal.',
};
export const RAW: Bilingual = {
  pt: 'Verifique a assinatura sobre os bytes do corpo como chegaram, antes de os interpretar: o JSON que o seu programa escreve de novo não é o que assinamos.',
  en: 'Verify the signature over the bytes of the body as they came, before you parse them: JSON that your program writes again is not what we signed.',
};

export const REFUSED_WORDS = {
  assinatura_errada: {
    title: { pt: 'Recusa uma assinatura errada', en: 'Refuses a wrong signature' },
    sent: {
      pt: 'uma entrega com um caractere da assinatura trocado',
      en: 'a delivery with one character of its signature changed',
    },
    mend: VERIFY,
  },
  outro_segredo: {
    title: { pt: 'Recusa a assinatura de outro secret', en: 'Refuses the signature of another secret' },
    sent: {
      pt: 'uma entrega assinada por um secret que ninguém tem',
      en: 'a delivery signed by a secret that nobody has',
    },
    mend: VERIFY,
  },
  assinatura_cortada: {
    title: { pt: 'Recusa metade de uma assinatura', en: 'Refuses half of a signature' },
    sent: { pt: 'a primeira metade da assinatura certa', en: 'the first half of the right signature' },
    mend: VERIFY,
  },
  assinatura_vazia: {
    title: { pt: 'Recusa uma assinatura vazia', en: 'Refuses an empty signature' },
    sent: {
      pt: 'os cabeçalhos com `sha256=` e `v1,`, sem mais nada',
      en: 'the headers with `sha256=` and `v1,`, and nothing more',
    },
    mend: VERIFY,
  },
  sem_assinatura: {
    title: { pt: 'Recusa uma entrega sem assinatura', en: 'Refuses a delivery without a signature' },
    sent: { pt: 'uma entrega sem nenhum cabeçalho de assinatura', en: 'a delivery without any header of a signature' },
    mend: {
      pt: 'Responda 401 quando o cabeçalho da assinatura falta: quem o deixa fora não é Carteiro.',
      en: 'Answer 401 where the header of the signature is missing: whoever leaves it out is not Carteiro.',
    },
  },
  corpo_alterado: {
    title: { pt: 'Recusa um corpo alterado', en: 'Refuses a changed body' },
    sent: {
      pt: 'a assinatura de um corpo com outro valor depois dela, e depois com um espaço a mais',
      en: "a body's signature with another amount behind it, and then with one more space",
    },
    mend: RAW,
  },
  reserializado_node: {
    title: {
      pt: 'Recusa a assinatura do JSON que Node escreve',
      en: 'Refuses the signature of the JSON that Node writes',
    },
    sent: {
      pt: 'um corpo com a assinatura de JSON.stringify(JSON.parse(corpo))',
      en: 'a body with the signature of JSON.stringify(JSON.parse(body))',
    },
    mend: RAW,
  },
  reserializado_python: {
    title: {
      pt: 'Recusa a assinatura do JSON que Python escreve',
      en: 'Refuses the signature of the JSON that Python writes',
    },
    sent: {
      pt: 'um corpo com a assinatura de json.dumps(json.loads(corpo)), com e sem espaços',
      en: 'a body with the signature of json.dumps(json.loads(body)), with spaces and without',
    },
    mend: RAW,
  },
  reserializado_php: {
    title: {
      pt: 'Recusa a assinatura do JSON que PHP escreve',
      en: 'Refuses the signature of the JSON that PHP writes',
    },
    sent: {
      pt: 'um corpo com a assinatura de json_encode(json_decode(corpo))',
      en: 'a body with the signature of json_encode(json_decode(body))',
    },
    mend: RAW,
  },
  horario_velho: {
    title: { pt: 'Recusa um horário de dez minutos atrás', en: 'Refuses a time of ten minutes ago' },
    sent: {
      pt: 'uma entrega com webhook-timestamp de dez minutos atrás, bem assinada (Standard Webhooks)',
      en: 'a delivery whose webhook-timestamp is ten minutes old, signed well (Standard Webhooks)',
    },
    mend: {
      pt: 'Recuse um webhook-timestamp a mais de cinco minutos de agora: assim ninguém envia de novo uma entrega gravada.',
      en: 'Refuse a webhook-timestamp more than five minutes from now: so nobody sends a recorded delivery again.',
    },
  },
} satisfies Record<string, CheckWords>;
