/** Reads a proof's file strictly: another reader must not find another proof in it. */
import { type Proof, proof, type ProvedRow } from '../../contract/resources/audit-resource.ts';
import type { Rows } from './reach.ts';

const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Of UTF-8: more are more characters. */
export const MAX_BYTES = 3 * MAX_CHARACTERS;
/** A proof of 10,000 rows takes about a second. */
const MAX_ROWS = 10_000;

export type ReadProof =
  | { readonly file: Proof; readonly rows: Rows }
  | { readonly fits: false | null; readonly reason: string };

const STRANGE: ReadProof = { fits: false, reason: 'the file is no proof of this format' };
const TOO_LONG: ReadProof = {
  fits: null,
  reason: `the file is too long to be checked: at most ${MAX_ROWS} rows, and ${MAX_CHARACTERS / 1024 ** 2} MiB`,
};

/** The proof and where each of its rows stands; or why there is none. */
export function readProofFile(text: string): ReadProof {
  if (text.length > MAX_CHARACTERS) return TOO_LONG;
  try {
    const read: unknown = JSON.parse(text);
    const { data: file } = proof.safeParse(read);
    if (file === undefined || !file.corpo.isWellFormed() || !isWrittenOnce(text, read)) return STRANGE;
    const rows = new Map(rowsOf(file));
    return Math.max(rows.size, file.selos.length) > MAX_ROWS ? TOO_LONG : { file, rows };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return STRANGE;
    throw error;
  }
}

/** False if an object has a name twice (readers take different ones), or a number has another form than JavaScript's. */
function isWrittenOnce(text: string, read: unknown): boolean {
  const bare = text.replace(/"(?:[^"\\]|\\.)*"?|\s+/g, (token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : '',
  );
  return bare === JSON.stringify(read);
}

function rowsOf({ evento, tentativas, pedidos, apagamento }: Proof): [ProvedRow, string][] {
  const named = [
    [evento, 'evento'] as const,
    ...tentativas.map((row, index) => [row, `tentativas[${index}]`] as const),
    ...pedidos.map((row, index) => [row, `pedidos[${index}]`] as const),
    [apagamento?.pedido ?? null, 'apagamento.pedido'] as const,
    [apagamento?.pagina ?? null, 'apagamento.pagina'] as const,
  ];
  return named.flatMap(([row, name]): [ProvedRow, string][] => (row === null ? [] : [[row, name]]));
}
