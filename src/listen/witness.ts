/**
 * The log's checkpoints beside the feed: each forwarded delivery carries the newest, as a poller's does, and this run is a witness by the
 * file that partners copy. An API without checkpoints, or without an answer, is asked again; nothing waits for it.
 */
import { checkpointHeader } from '../audit/checkpoint/checkpoint.ts';
import { verifyCheckpoint } from '../http/receivers/carteiro.ts';
import { shown } from './feed-api.ts';
import { readBounded } from '../bounded-answer.ts';

/** Keys, a checkpoint, or the path between two: some KiB. */
const MAX_ANSWER_BYTES = 256 * 1_024;

const EVERY_MS = 5_000;
const MAX_BYTES = 256;

export interface WitnessOptions {
  /** Without a trailing slash. */
  readonly api: string;
  readonly note: (line: string) => void;
  readonly pause: (ms: number, stopping: AbortSignal) => Promise<void>;
  readonly stopping: AbortSignal;
}

export class Witness {
  readonly #options: WitnessOptions;
  #header: string | null = null;
  #kept = '';
  #reported = '';

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  /** The newest checkpoint shown by the API; null before the first. */
  get header(): string | null {
    return this.#header;
  }

  async run(): Promise<void> {
    const { pause, stopping } = this.#options;
    while (!stopping.aborted) {
      await this.look();
      await pause(EVERY_MS, stopping);
    }
  }

  async look(): Promise<void> {
    const { api, note } = this.#options;
    const [keys, newest] = [
      await this.#read('/.well-known/carteiro-checkpoint-keys'),
      await this.#read('/v1/evidencia/checkpoint'),
    ];
    const line = newest === null ? null : lineOf(newest);
    if (keys === null || line === null) return;
    this.#header = line;
    if (line === this.#reported) return;
    const { verdict, keep } = await verifyCheckpoint(line, keys.trim().split('\n'), this.#kept, api);
    if (verdict === 'unknown') return;
    const [origin = '', size = ''] = line.split(' ');
    const before = this.#kept.split(' ', 4).join(' ');
    this.#reported = line;
    if (verdict === 'ok') note(`checkpoint: ${shown(origin)} at ${size}`);
    else if (verdict === 'parado')
      note(`checkpoint: ${shown(line)} is older than ${shown(before)}: the API's log stands still`);
    else if (verdict === 'adiantado') note(`checkpoint: ${shown(line)} has more seals than the API's log`);
    else if (verdict === 'forged') note(`checkpoint: none of the API's keys signed ${shown(line)}`);
    else
      note(
        `checkpoint: the log was made anew: ${shown(line)} excludes ${shown(before)}; keep both, and tell its owner`,
      );
    this.#kept = keep;
  }

  async #read(path: string): Promise<string | null> {
    const { api, stopping } = this.#options;
    try {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(10_000)]);
      const answer = await fetch(`${api}${path}`, { redirect: 'manual', signal });
      return answer.status === 200 ? (await readBounded(answer, MAX_ANSWER_BYTES)).toString() : null;
    } catch {
      return null;
    }
  }
}

/** Null for a text that is no checkpoint, or is unfit for a header. */
function lineOf(note: string): string | null {
  try {
    const line = checkpointHeader(note);
    return line.length <= MAX_BYTES && /^[\x21-\x7E ]+$/.test(line) ? line : null;
  } catch {
    return null;
  }
}
