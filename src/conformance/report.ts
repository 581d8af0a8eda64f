/**
 * What compliance departments keep of a run: canonical JSON (RFC 8785) as the text of a note that the checkpoint's key signs. It
 * begins with a brace, so it can't be taken for a checkpoint. Pure.
 */
import { detailOf, titleOf } from './tell.ts';
import type { Judged } from './run.ts';

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
