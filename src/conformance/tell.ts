/** What a run found, in words of both languages. */
import { CHECK_WORDS, type CheckCode } from '../contract/conformance/words.ts';
import { type Bilingual, both, type Language } from '../contract/language.ts';
import type { Judged, Seen, Unjudged } from './run.ts';

const WHY: Readonly<Record<Unjudged, Bilingual>> = {
  propria: {
    pt: 'Não se aplica: nem a nossa própria entrega foi aceita.',
    en: 'Does not apply: not even our own delivery was accepted.',
  },
  tempo: {
    pt: 'Não foi feito: os cinco minutos da homologação acabaram antes.',
    en: 'Was not done: the five minutes of the run were over before.',
  },
  esquema: {
    pt: 'Não se aplica: o receptor lê as assinaturas do contrato. Elas não assinam o horário: reconheça entregas repetidas por X-Webhook-Delivery. Numa rotação X-Webhook-Signature é do secret novo: tenha os dois, ou leia também X-Webhook-Signature-Previous.',
    en: 'Does not apply: the receiver reads the signatures of the contract. They sign no time: know repeated deliveries by X-Webhook-Delivery. During a rotation X-Webhook-Signature is of the new secret: have both, or read X-Webhook-Signature-Previous, too.',
  },
  parada: {
    pt: 'Não foi feito: o serviço parou durante a homologação.',
    en: 'Was not done: the service stopped during the run.',
  },
};
const LABELS = {
  sent: { pt: 'Enviamos', en: 'We sent' },
  came: { pt: 'Veio', en: 'There came' },
  mend: { pt: 'Como corrigir', en: 'How to mend it' },
  none: { pt: 'sem resposta', en: 'no answer' },
  strange: { pt: 'HTML, ou mais de 8 KiB', en: 'HTML, or more than 8 KiB' },
};

export const titleOf = (code: CheckCode): Bilingual => CHECK_WORDS[code].title;

/** What was sent, what came, and how to mend it. */
export function detailOf({ code, verdict, seen, why }: Judged): Bilingual {
  const { sent, mend } = CHECK_WORDS[code];
  return both((language) => {
    const parts = [
      ...(seen.length === 0 ? [] : [`${LABELS.sent[language]}: ${sent[language]}.`]),
      ...(seen.length === 0 ? [] : [`${LABELS.came[language]}: ${cameText(seen, language)}.`]),
      ...(why === undefined ? [] : [WHY[why][language]]),
      ...(verdict === 'falhou' ? [`${LABELS.mend[language]}: ${mend[language]}`] : []),
    ];
    return parts.join(' ');
  });
}

/** `10 × 204 (35 ms)`: the answers that are alike together, with the slowest time. */
function cameText(seen: readonly Seen[], language: Language): string {
  const alike = new Map<string, { count: number; ms: number }>();
  for (const { status, ms, error, isStrange } of seen) {
    const answer = status === null ? `${LABELS.none[language]} (${error ?? '?'})` : String(status);
    const text = isStrange === true ? `${answer}, ${LABELS.strange[language]}` : answer;
    const before = alike.get(text) ?? { count: 0, ms: 0 };
    alike.set(text, { count: before.count + 1, ms: Math.max(before.ms, ms) });
  }
  return [...alike].map(([text, { count, ms }]) => `${count > 1 ? `${count} × ` : ''}${text} (${ms} ms)`).join('; ');
}
