/**
 * A body that no writer of JSON writes again byte by byte, and what writers make of it: receivers that verify what they wrote fail.
 */
import { type Kit, exampleOf } from './post.ts';

/** Escapes, an escaped slash, letters beyond ASCII and a trailing zero, all of which JSON allows. */
export function unusualBody(kit: Kit) {
  const { event, body } = exampleOf(kit, 'trabalhador.vinculo_novo', {
    novo_empregador: { cnpj: '11444777000161', nome: 'Café / São João' },
    margem_disponivel: 1750.5,
  });
  return { event, body: body.replace('Café / ', String.raw`Caf\u00e9 \/ `).replace('1750.5', '1750.50') };
}

type Write = (value: unknown) => string;

const escapeUnicode = (text: string) =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** `json.dumps` with its separators; the values of {@link unusualBody} are alike in all else. */
function writeSpaced(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${writeSpaced(member)}`);
  return `{${members.join(', ')}}`;
}

/** What the usual writers make of a parsed body, by the language whose default it is. */
export const WRITERS = {
  node: [JSON.stringify],
  python: [(value) => escapeUnicode(writeSpaced(value)), writeSpaced, (value) => escapeUnicode(JSON.stringify(value))],
  php: [(value) => escapeUnicode(JSON.stringify(value)).replaceAll('/', String.raw`\/`)],
} satisfies Record<string, readonly Write[]>;
