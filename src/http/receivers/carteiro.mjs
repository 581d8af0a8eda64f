/**
 * Verifies the signature of a delivery, and the checkpoint that it carries. A file to copy: it needs Node and nothing else (as
 * carteiro.ts 22.18 or later, or what builds your TypeScript; as carteiro.mjs, which is the same without types, 20 or later).
 * Give it the raw bytes of the body, before any parsing, and every secret in force: two while a rotation lasts.
 */
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify as verifySignature } from 'node:crypto';

/** Older or newer deliveries are refused, so that nobody can send a recorded one again. */
const TOLERANCE_S = 300;

/** True when one of `secrets` signed exactly these bytes within five minutes of `nowS`. Reads the Standard Webhooks headers. */
export function verify(rawBody, headers, secrets, nowS = Date.now() / 1_000) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowS - Number(timestamp)) > TOLERANCE_S) return false;
  const signatures = given.split(' ');
  return secrets.some((secret) => {
    const key = secret.replace(/^whsec_/, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key)) return false;
    const expected = `v1,${createHmac('sha256', Buffer.from(key, 'base64')).update(`${id}.${timestamp}.`).update(rawBody).digest('base64')}`;
    return signatures.some((signature) => isSame(signature, expected));
  });
}

/**
 * True when one of `secrets` signed exactly these bytes. Reads the contract's headers `X-Webhook-Signature` and, during a
 * rotation, `X-Webhook-Signature-Previous`. They sign no time: a recorded delivery passes, so deduplicate by
 * `X-Webhook-Delivery`, or use {@link verify}.
 */
export function verifyBody(rawBody, headers, secrets) {
  const given = [headers['x-webhook-signature'], headers['x-webhook-signature-previous']];
  return secrets.some((secret) => {
    if (secret === '') return false;
    const expected = `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
    return given.some((signature) => typeof signature === 'string' && isSame(signature, expected));
  });
}

/** In constant time. */
function isSame(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Checks the header `X-Carteiro-Checkpoint` against what was kept last ('' at first), by the log's public keys as
 * `/.well-known/carteiro-checkpoint-keys` shows them: keep those when nothing is in dispute. Where the log has grown, the proof is
 * asked of `api`, the base URL of Carteiro's API. Call it once the delivery is answered.
 */
export async function verifyCheckpoint(header, keys, kept, api, nowS = Date.now() / 1_000) {
  if (header === undefined || header === '') return { verdict: 'unknown', keep: kept };
  // What is kept: a line, the second at which it came, and the least line that was ahead.
  const words = kept.split(' ');
  const [line, since, ahead] = [words.slice(0, 4).join(' '), Number(words[4] ?? nowS), words.slice(5).join(' ')];
  const keepOf = (...parts) => parts.join(' ').trimEnd();
  if (header === line)
    return { verdict: nowS - since > DAY_S ? 'parado' : 'ok', keep: keepOf(line, Math.floor(since), ahead) };
  const [now, before, later] = [readCheckpoint(header), readCheckpoint(line), readCheckpoint(ahead)];
  if (now === null || !keys.some((key) => isSigned(now, key))) return { verdict: 'forged', keep: kept };
  if (kept === '') return { verdict: 'ok', keep: keepOf(header, Math.floor(nowS)) };
  if (before === null || before.origin !== now.origin) return { verdict: 'fork', keep: kept };
  const hasGrown = now.size > before.size;
  const isOf = hasGrown ? await isOneLog(api, before, now) : await isOneLog(api, now, before);
  if (isOf === 'fewer') {
    const isLeast = hasGrown && (later === null || now.size < later.size);
    return { verdict: 'adiantado', keep: isLeast ? keepOf(line, Math.floor(since), header) : kept };
  }
  if (isOf !== true) return { verdict: isOf === null ? 'unknown' : 'fork', keep: kept };
  if (!hasGrown) return { verdict: now.size < before.size ? 'parado' : 'ok', keep: kept };
  const isReached = later !== null && later.size <= now.size;
  const isTrue = !isReached || (await isOneLog(api, later, now));
  if (isTrue !== true) return { verdict: isTrue === false ? 'fork' : 'unknown', keep: kept };
  return { verdict: 'ok', keep: keepOf(header, Math.floor(nowS), isReached ? '' : ahead) };
}

const DAY_S = 86_400;

/** Whether one log has both. `fewer`: the API's log does not have so many seals; null: it gave no answer. */
async function isOneLog(api, old, grown) {
  const path = old.size === grown.size ? [] : await askForProof(api, old.size, grown.size);
  return Array.isArray(path) ? isConsistent(old, grown, path) : path;
}

function readCheckpoint(line) {
  const [, origin, size, root = '', signature = ''] =
    /^(\S+) ([1-9]\d{0,14}) ([A-Za-z0-9+/]{43}=) ([A-Za-z0-9+/]{91}=)$/.exec(line) ?? [];
  if (origin === undefined) return null;
  return { origin, size: Number(size), root: Buffer.from(root, 'base64'), signature: Buffer.from(signature, 'base64') };
}

/** A key is name, id and base64 behind a type byte, joined by `+`; a signature has the key's id in front. */
function isSigned({ origin, size, root, signature }, key) {
  const [, name, id = '', base64 = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(key.trim()) ?? [];
  const [type, ...bytes] = Buffer.from(base64, 'base64');
  if (name !== origin || type !== 1 || bytes.length !== 32 || signature.toString('hex', 0, 4) !== id) return false;
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(bytes)]);
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const text = `${origin}\n${size}\n${root.toString('base64')}\n`;
  return verifySignature(null, Buffer.from(text), publicKey, signature.subarray(4));
}

/** `fewer`: its log does not have so many seals; null: it gave no answer. */
async function askForProof(api, from, to) {
  try {
    const address = `${api}/v1/evidencia/consistencia?de=${from}&ate=${to}`;
    const answer = await fetch(address, { signal: AbortSignal.timeout(10_000) });
    if (answer.status === 404) return 'fewer';
    const { caminho } = await answer.json();
    return caminho.map((hash) => Buffer.from(hash, 'base64'));
  } catch {
    return null;
  }
}

/** RFC 9162, 2.1.4.2. */
function isConsistent(old, grown, path) {
  if (old.size === grown.size) return path.length === 0 && old.root.equals(grown.root);
  const hash = (left, right) => createHash('sha256').update('\u0001').update(left).update(right).digest();
  let [index, last] = [old.size - 1, grown.size - 1];
  while (index % 2 === 1) [index, last] = [(index - 1) / 2, Math.floor(last / 2)];
  const [first, ...others] = index === 0 ? [old.root, ...path] : path;
  if (first === undefined) return false;
  let [before, after] = [first, first];
  for (const other of others) {
    if (last === 0) return false;
    if (index % 2 === 1 || index === last) {
      [before, after] = [hash(other, before), hash(other, after)];
      while (index % 2 === 0 && index > 0) [index, last] = [index / 2, Math.floor(last / 2)];
    } else after = hash(after, other);
    [index, last] = [Math.floor(index / 2), Math.floor(last / 2)];
  }
  return last === 0 && before.equals(old.root) && after.equals(grown.root);
}
