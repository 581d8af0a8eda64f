/** One rule of the contract, and what is said of it. */

export interface Line {
  readonly rule: string;
  readonly verdict: 'holds' | 'fails' | 'unseen';
  /** What was seen, or why nothing was. */
  readonly seen: string;
}

/** The rule does not hold; the message says what was seen instead. */
export class Broken extends Error {
  override name = 'Broken';
}

/** Nothing could be seen of the rule; the message says why. */
export class Unseen extends Error {
  override name = 'Unseen';
}

/** Looks at one rule: `look` returns what was seen. */
export type Look = (rule: string, look: () => Promise<string>) => Promise<void>;

export interface CheckOptions {
  readonly cpf: string;
  readonly cnpj: string;
  /** A worker whom the bridge refuses; null: none is known. */
  readonly refusedCpf: string | null;
  /** The longest that a registration may be worked on. */
  readonly waitS: number;
}
