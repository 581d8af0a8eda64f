/**
 * The log's public face: newest checkpoint, consistency proofs, tiles (C2SP tlog-tiles), and keys. No token: it shows no row, and
 * everybody who holds a checkpoint must be able to check it.
 */
import type { Context } from 'hono';
import { readCheckpoint, readConsistency } from '../../audit/checkpoint/stored.ts';
import { readTile, readTileEntries } from '../../audit/checkpoint/tiles.ts';
import { ApiError, notFound } from '../api-error.ts';
import type { HttpDeps } from '../deps.ts';
import type { Env } from '../request.ts';

const TEXT = 'text/plain; charset=utf-8';
const SIZE = /^[1-9]\d{0,14}$/;
const FOR_EVER = 'public, max-age=31536000, immutable';
const SHORTLY = 'public, max-age=10';

type Deps = Pick<HttpDeps, 'pool' | 'checkpointKeys'>;
type Handler = (c: Context<Env>) => Promise<Response>;

export function evidenceRoutes({ pool, checkpointKeys }: Deps): Readonly<Record<string, Handler>> {
  return {
    '/.well-known/carteiro-checkpoint-keys': async (c) => {
      if (checkpointKeys.length === 0) throw notFound();
      const keys = checkpointKeys.map(({ text }) => `${text}\n`).join('');
      return c.body(keys, 200, { 'Content-Type': TEXT, 'Cache-Control': SHORTLY });
    },
    '/v1/evidencia/checkpoint': async (c) => {
      const newest = await pool.run((sql) => readCheckpoint(sql));
      if (newest === null) throw notFound();
      return c.body(newest.note, 200, { 'Content-Type': TEXT, 'Cache-Control': SHORTLY });
    },
    '/v1/evidencia/consistencia': async (c) => {
      const { de, ate, ...unknown } = c.req.query();
      const [old, size] = [readSize('de', de), readSize('ate', ate)];
      const [strange] = Object.keys(unknown);
      if (strange !== undefined) throw invalid(strange, 'não existe');
      if (old > size) throw invalid('ate', 'não pode ser menor que `de`');
      const found = await pool.run((sql) => readConsistency(sql, old, size));
      if (found === null) throw notFound();
      const body = {
        de: old,
        ate: size,
        raiz_de: found.from.toString('base64'),
        raiz_ate: found.to.toString('base64'),
        caminho: found.path.map((hash) => hash.toString('base64')),
      };
      return c.json(body, 200, { 'Cache-Control': FOR_EVER });
    },
    '/v1/evidencia/tile/:level/*': async (c) => {
      const level = c.req.param('level') ?? '';
      const rest = c.req.path.slice(c.req.path.indexOf('/tile/') + 6 + level.length + 1);
      const place = readPlace(rest);
      if (place === null || !/^(\d|[1-5]\d|6[0-3]|entries)$/.test(level)) throw notFound();
      const read = level === 'entries' ? readTileEntries : readTile(Number(level));
      const tile = await pool.run((sql) => read(sql, place.index, place.width));
      if (tile === null) throw notFound();
      return c.body(new Uint8Array(tile), 200, {
        'Content-Type': 'application/octet-stream',
        'Cache-Control': FOR_EVER,
      });
    },
  };
}

function readSize(name: string, text: string | undefined): number {
  if (text === undefined || !SIZE.test(text)) throw invalid(name, 'deve ser um número de selos, de 1 em diante');
  return Number(text);
}

function invalid(campo: string, mensagem: string): ApiError {
  return new ApiError('ERRO_VALIDACAO', `o parâmetro ${campo} ${mensagem}`, { details: [{ campo, mensagem }] });
}

/** `x001/x234/067` is 1234067, and `.p/9` behind it says that 9 hashes of the tile are meant, not 256. */
function readPlace(path: string): { index: number; width: number } | null {
  const [, high = '', low, width] = /^((?:x\d{3}\/)*)(\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path) ?? [];
  if (low === undefined || high.length > 20 || Number(width ?? 256) > 256) return null;
  const index = Number(high.replaceAll(/[x/]/g, '') + low);
  const isShortest = high === '' || !high.startsWith('x000');
  return isShortest ? { index, width: Number(width ?? 256) } : null;
}
