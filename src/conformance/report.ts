/**
 * What a run found, in words of both languages, and its report: what compliance departments keep, canonical JSON (RFC 8785) as the
 * text of a note that the checkpoint's key signs. It begins with a brace, so it can't be taken for a checkpoint. Pure.
 */
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

export interface Sides {
  /** The name of the checkpoint's key, and the service's address, where it has them. */
  readonly lender: { readonly name: string | null; readonly url: string | null; readonly version: string };
  readonly partner: { readonly id: string; readonly name: string };
  readonly webhook: { readonly id: string; readonly url: string; readonly events: readonly string[] };
}

interface Reported extends Sides {
  readonly id: string;
  readonly actor: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly checks: readonly Judged[];
}

export function reportOf({ id, actor, startedAt, endedAt, lender, partner, webhook, checks }: Reported): string {
  const count = (verdict: Judged['verdict']) => checks.filter((one) => one.verdict === verdict).length;
  return canonical({
    formato: 'carteiro-homologacao/1',
    homologacao_id: id,
    inicio: startedAt.toISOString(),
    fim: endedAt.toISOString(),
    pedida_por: actor,
    credor: { nome: lender.name, endereco: lender.url, servico: `Carteiro/${lender.version}` },
    parceiro: { id: partner.id, nome: partner.name },
    webhook: { id: webhook.id, url: withoutQuery(webhook.url), eventos: webhook.events },
    resumo: { passou: count('passou'), falhou: count('falhou'), nao_se_aplica: count('nao_se_aplica') },
    verificacoes: checks.map((one) => ({
      codigo: one.code,
      titulo: titleOf(one.code),
      resultado: one.verdict,
      detalhe: detailOf(one),
      respostas: one.seen.map(({ status, ms }) => ({ status_http: status, duracao_ms: ms })),
    })),
  });
}

/** A query may hold a token. */
const withoutQuery = (url: string) => url.replace(/\?.*/s, '?…');

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
