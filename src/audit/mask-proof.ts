/**
 * A proof as an auditor without the grant for CPFs may read it.
 *
 * What can be checked of it is the chain, up to an anchored head, and that status and attempts agree. Nothing ties a
 * masked row to its batch: a row's leaf, its group's leaves and the body's digest are withheld, because each is the digest
 * of known fields and a CPF, and a billion CPFs are tried in minutes. Not hidden by that: the digest of a batch that holds
 * one row alone, which stands in the chain.
 */
import type { MaskedProof, Proof } from '../contract/audit-resource.ts';
import { masked } from '../contract/masking.ts';
import { readableAnswer } from '../delivery/answer-text.ts';

const WITHHELD =
  'CPFs e consultas de URLs; as folhas das linhas, os lotes, o corpo exato e o seu SHA-256, porque por eles se acharia o ' +
  'CPF por tentativas. A cadeia de selos está inteira. A prova completa exige o escopo auditoria:cpf';

export function maskProof(proof: Proof): MaskedProof {
  const line = ({ linha, selo }: Proof['tentativas'][number]) => ({ linha: maskLine(linha), selo });
  return {
    formato: 'carteiro-prova-mascarada-1',
    gerada_em: proof.gerada_em,
    entrega: proof.entrega,
    corpo: masked(Buffer.from(proof.corpo_base64, 'base64').toString()),
    evento: proof.evento === null ? null : line(proof.evento),
    tentativas: proof.tentativas.map(line),
    pedidos: proof.pedidos.map(line),
    cadeia: proof.cadeia,
    cadeia_completa: proof.cadeia_completa,
    cabeca: proof.cabeca,
    retido: WITHHELD,
  };
}

/** Places of a line (drizzle/, `sealable_rows`) that hold bytes: an attempt's answer, and a message with its digest. */
const ANSWER = 15;
const MESSAGE = 13;

function maskLine(line: string): string {
  const fields = JSON.parse(line) as unknown[];
  const shown = fields.map((field, place) => {
    if (fields[0] === 'attempts' && place === ANSWER && typeof field === 'string') {
      return readableAnswer(Buffer.from(field, 'hex'));
    }
    if (fields[0] === 'events' && place === MESSAGE && Array.isArray(field)) return field.with(0, null);
    return typeof field === 'string' ? masked(field) : field;
  });
  return JSON.stringify(shown);
}
