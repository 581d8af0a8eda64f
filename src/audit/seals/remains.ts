/**
 * What erasing will leave of events. The commitment of an erased event no longer tells what the event said, so whoever orders an
 * erasure could say what was left. Therefore each seal holds a digest of what erasing would leave of its events, made while the
 * texts are there: a tree of leaves, each of an event's id and what is left of its data.
 *
 * Invariant: what is left of what is left is the same. So the digest can be made again at any time, whether or not some of the
 * events were erased, or lost another worker's CPF.
 * The sealer makes it, in Node, not the append: in SQL `erased` takes longer than an append does.
 */
import { ERASED, KEPT_TEXTS } from '../../contract/erasure.ts';
import { copyOut } from '../../db/binary-copy.ts';
import type { Tx } from '../../db/pool.ts';
import { FRAMES } from '../../db/sealed-rows.ts';
import { LeafList } from './leaves.ts';
import type { Sight } from './rows.ts';
import { levelAboveInPieces, rootOf } from './tree/merkle.ts';

const KEPT = new Set(KEPT_TEXTS);
const STRING = /"(?:[^"\\]|\\.)*"/g;
/** As `erased` in drizzle/functions has it. */
const FORGOTTEN = /(?<![0-9A-Za-z])[0-9]{3}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9]{2}(?![0-9A-Za-z])|apagado/;
const NOTHING = JSON.stringify(ERASED);

/** The text of an event's data once its worker is forgotten: what `erased` in drizzle/functions makes of it. */
export function restOf(text: string): string {
  let [rest, at, key] = ['', 0, ''];
  for (const { 0: string, index } of text.matchAll(STRING)) {
    const between = bare(text.slice(at, index));
    at = index + string.length;
    const value = string.includes('\\') ? (JSON.parse(string) as string) : null;
    // What jsonb could not hold is left out whole.
    if (value !== null && (value.includes('\0') || !value.isWellFormed())) return NOTHING;
    rest += between;
    if (/^[ \t\r\n]*:/.test(text.slice(at, at + 64))) {
      key = value ?? string.slice(1, -1);
      rest += value === null ? string : JSON.stringify(value);
      continue;
    }
    const isKept = between.endsWith(':') && KEPT.has(key) && !FORGOTTEN.test(string);
    rest += isKept ? string : NOTHING;
  }
  return rest + bare(text.slice(at));
}

function bare(text: string): string {
  return /[ \t\r\n]/.test(text) ? text.replaceAll(/[ \t\r\n]+/g, '') : text;
}

const ID_BYTES = 16;

/** The root over the events `t` that `rows` selects; null where there is none. */
export async function remainsOf(tx: Tx, rows: string, sight: Sight): Promise<Buffer | null> {
  const list = new LeafList();
  if (sight === 'masked') {
    await copyOut(tx, `select '\\x01'::bytea || t.rest as entry from events_as_sealed t where ${rows}`, list.add);
  } else {
    const head = `uuid_send(t.id) || convert_to(t.data::text, 'UTF8')`;
    await copyOut(tx, `select ${head} as entry from events t where ${rows}`, (bytes, at, end) => {
      const rest = Buffer.from(restOf(bytes.toString('utf8', at + ID_BYTES, end)));
      list.add(Buffer.concat([Buffer.of(FRAMES.whole), bytes.subarray(at, at + ID_BYTES), rest]));
    });
  }
  if (list.rows === 0) return null;
  return rootOf(await levelAboveInPieces((await list.finish()).hashes));
}
