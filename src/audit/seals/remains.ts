/**
 * The digest of what erasing would leave of a seal's events: a tree over each event's id and its remaining data. An erased
 * event's commitment no longer tells what the event said, so the seal keeps this digest from before.
 * Invariant: erasing twice leaves the same as once, so the digest can be computed again before and after an erasure. The sealer
 * computes it in Node: in SQL `erased` takes longer than an append does.
 */
import { ERASED, KEPT_TEXTS } from '../../contract/erasure.ts';
import { copyOut } from '../../db/binary-copy.ts';
import type { Tx } from '../../db/pool.ts';
import { FRAMES } from '../../db/sealed-rows.ts';
import { LeafList } from './leaves.ts';
import type { Sight } from './rows.ts';
import { leafHash, levelAboveInPieces, rootOf } from './tree/merkle.ts';

const KEPT = new Set(KEPT_TEXTS);
/** As `erased` in drizzle/functions has it. */
const FORGOTTEN = /(?<![0-9A-Za-z])[0-9]{3}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9]{2}(?![0-9A-Za-z])|apagado/;
const NOTHING = JSON.stringify(ERASED);

export function restOf(text: string): string {
  const hasEscapes = text.includes('\\');
  let [rest, at, key] = ['', 0, ''];
  for (let from = text.indexOf('"'); from >= 0; from = text.indexOf('"', at)) {
    const between = bare(text.slice(at, from));
    at = endOf(text, from);
    const string = text.slice(from, at);
    const isEscaped = hasEscapes && string.includes('\\');
    const value = isEscaped ? (JSON.parse(string) as string) : '';
    // What jsonb could not hold is left out whole.
    if (isEscaped && (value.includes('\0') || !value.isWellFormed())) return NOTHING;
    rest += between;
    if (isFollowedBy(text, at, ':')) {
      key = isEscaped ? value : string.slice(1, -1);
      rest += isEscaped ? JSON.stringify(value) : string;
    } else {
      const isKept = between.endsWith(':') && KEPT.has(key) && !FORGOTTEN.test(string);
      rest += isKept ? string : NOTHING;
    }
  }
  return rest + bare(text.slice(at));
}

/** Behind the quotation mark that ends the string at `from`. */
function endOf(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (isEscapedAt(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscapedAt(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

function isFollowedBy(text: string, from: number, mark: string): boolean {
  let at = from;
  while (text.charCodeAt(at) <= SPACE) at += 1;
  return text[at] === mark;
}

const SPACE = 32;

/** Without the blanks between values. */
function bare(text: string): string {
  return text.length > 1 || text.charCodeAt(0) <= SPACE ? text.replaceAll(/[ \t\r\n]+/g, '') : text;
}

const ID_BYTES = 16;

export function restLeaf(id: Uint8Array, data: string): Buffer {
  return leafHash(Buffer.concat([id, Buffer.from(restOf(data))]));
}

/** The root over the events `t` that `rows` selects, and over the leaves of those that left for an archive; null where there is none. */
export async function remainsOf(tx: Tx, rows: string, sight: Sight, left?: readonly Buffer[]): Promise<Buffer | null> {
  const list = new LeafList();
  for (const leaf of left ?? []) list.add(Buffer.concat([Buffer.of(FRAMES.withheld), leaf]));
  // A loan that is leaving has events in both places.
  const stay =
    'not exists (select from events e join loans l on l.id = e.stream where e.id = t.id and l.away_digest is not null)';
  const chosen = left === undefined ? rows : `${rows} and ${stay}`;
  if (sight === 'masked') {
    await copyOut(tx, `select '\\x01'::bytea || t.rest as entry from events_as_sealed t where ${chosen}`, list.add);
  } else {
    const head = `uuid_send(t.id) || convert_to(t.data::text, 'UTF8')`;
    // One for all events; what is left may be longer than the text by a word for each string.
    let leaf = Buffer.alloc(0);
    await copyOut(tx, `select ${head} as entry from events t where ${chosen}`, (bytes, at, end) => {
      const rest = restOf(bytes.toString('utf8', at + ID_BYTES, end));
      const most = 1 + ID_BYTES + 3 * rest.length;
      if (leaf.length < most) leaf = Buffer.alloc(2 * most);
      leaf[0] = FRAMES.whole;
      bytes.copy(leaf, 1, at, at + ID_BYTES);
      list.add(leaf, 0, 1 + ID_BYTES + leaf.write(rest, 1 + ID_BYTES));
    });
  }
  if (list.rows === 0) return null;
  return rootOf(await levelAboveInPieces((await list.finish()).hashes));
}
