/** What the contract says of events beside their fields. */
import { html } from 'hono/html';
import type { Html, PainelContext } from '../env.ts';
import { table } from '../frame/parts.ts';
import { DOCS } from '../language/choose.ts';
import { paragraphs, prose } from './prose.ts';

export function rulesBody(c: PainelContext): Html {
  const { rules: words } = DOCS[c.var.language];
  const mapping: readonly (readonly [event: string, answer: string])[] = [
    ['salario_bruto', '`valor_total_vencimentos`'],
    ['margem_disponivel', '`valor_margem_disponivel`'],
    ['cnpj_empregador', words.fourteen],
    ['cpf_trabalhador', '`cpf`'],
    ['margem_percentual', words.derived],
    ['consulta_margem_id', '`consulta_margem_id`'],
  ];
  return html`${paragraphs(words.intro)}
  ${words.sections.map(
    ({ title, texts }, index) =>
      html`<h2>${title}</h2>
        ${paragraphs(texts)}
        ${
          index > 0
            ? ''
            : table(
                title,
                [words.ofEvent, words.ofAnswer],
                mapping.map(([event, answer]) => [html`<code>${event}</code>`, prose(answer)]),
                'fields',
              )
        }`,
  )}`;
}
