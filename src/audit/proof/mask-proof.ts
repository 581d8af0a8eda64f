/**
 * A proof as an auditor without the grant for CPFs may read it.
 *
 * Its chain can be checked, up to an anchored head, and that status and attempts agree. Nothing ties a masked row to its batch:
 * a row's leaf, its group's leaves and the body's digest are withheld. Each is a digest of known fields and a CPF, and trying a
 * billion CPFs takes minutes. This does not hide the digest of a batch of a single row, which is in the chain.
 */
import type { MaskedProof, Proof } from '../../contract/resources/audit-resource.ts';
import { masked } from '../../contract/masking.ts';
import { readableAnswer } from '../../delivery/partner/answer-text.ts';

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

/** Fields of a line, by ordinal, (drizzle/, `sealable_rows`) that hold bytes: an attempt's answer, and a message with its digest. */
const ANSWER = 15;
const MESSAGE = 13;

function maskLine(line: string): string {
  const fields = JSON.parse(line) as unknown[];
  const shown = fields.map((field, ordinal) => {
    if (fields[0] === 'attempts' && ordinal === ANSWER && typeof field === 'string') {
      return readableAnswer(Buffer.from(field, 'hex'));
    }
    if (fields[0] === 'events' && ordinal === MESSAGE && Array.isArray(field)) return field.with(0, null);
    return typeof field === 'string' ? masked(field) : field;
  });
  return JSON.stringify(shown);
}
