export interface Line {
  readonly rule: string;
  readonly verdict: 'holds' | 'fails' | 'unseen';
  /** The observation, or why there is none. */
  readonly seen: string;
}

/** The rule does not hold; the message says what was observed. */
export class Broken extends Error {
  override name = 'Broken';
}

/** The rule could not be observed; the message says why. */
export class Unseen extends Error {
  override name = 'Unseen';
}

/** Checks one rule: `look` returns the observation. */
export type Look = (rule: string, look: () => Promise<string>) => Promise<void>;

export interface CheckOptions {
  readonly cpf: string;
  readonly cnpj: string;
  /** A worker whom the bridge refuses; null: none known. */
  readonly refusedCpf: string | null;
  /** The longest time of a registration. */
  readonly waitS: number;
}
