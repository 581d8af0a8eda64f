import { expect } from 'vitest';
import type { Answer } from './api.ts';

export interface Page<T> {
  readonly itens: readonly T[];
  readonly proximo_cursor: string | null;
}

/** The items of each page of a list, one page after the other. */
export async function* pagesOf<T>(read: (path: string) => Promise<Answer<Page<T>>>, path: string) {
  for (let cursor: string | null = ''; cursor !== null;) {
    const next: string = cursor === '' ? '' : `${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
    const { status, body } = await read(`${path}${next}`);
    expect([path, status]).toEqual([path, 200]);
    yield body.itens;
    cursor = body.proximo_cursor;
  }
}

/** All items of a list. */
export async function itemsOf<T>(read: (path: string) => Promise<Answer<Page<T>>>, path: string): Promise<T[]> {
  return (await Array.fromAsync(pagesOf(read, path))).flat();
}
