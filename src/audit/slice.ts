/** The counts of one statement of the balance. */
export interface Span {
  readonly start: Date;
  readonly end: Date;
}

export interface Slice extends Span {
  /** Days that follow each other, or the one that the slice is an hour of. */
  readonly days: readonly string[];
  /** Nothing happened: nothing need be asked. */
  readonly isEmpty?: boolean;
}
