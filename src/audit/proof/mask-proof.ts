/**
 * A proof without what may tell a CPF: salts, body, answers, and rows with a text to mask. The other rows hold only salted hashes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Proof, ProvedRow } from '../../contract/resources/audit-resource.ts';
import { masked } from '../../contract/masking/masking.ts';

const WITHHELD =
  'CPFs e consultas de URLs; o corpo exato, as respostas, os sais e as linhas que os contêm. A prova completa exige o escopo ' +
  'auditoria:cpf';

export function maskProof(proof: Proof): Proof {
  return {
    ...proof,
    corpo: masked(proof.corpo),
    sal: null,
    evento: proof.evento === null ? null : maskRow(proof.evento),
    tentativas: proof.tentativas.map(maskRow),
    pedidos: proof.pedidos.map(maskRow),
    apagamento: proof.apagamento && { pedido: maskRow(proof.apagamento.pedido), pagina: proof.apagamento.pagina },
    retido: WITHHELD,
  };
}

function maskRow(row: ProvedRow): ProvedRow {
  const shown = Object.entries(row.campos).map(([name, value]) => [
    name,
    typeof value === 'string' ? masked(value) : value,
  ]);
  const campos = Object.fromEntries(shown) as ProvedRow['campos'];
  const isSame = isDeepStrictEqual(campos, row.campos);
  const answer = row.tabela === 'attempts' ? { resposta: null, sal: null } : {};
  return { ...row, ...answer, campos, entrada: isSame ? row.entrada : null };
}
