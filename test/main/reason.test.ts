import { expect, test } from 'vitest';
import { reasonOf } from '../../src/main/reason.ts';

test('an error is told with each cause that says something new', () => {
  const system = new Error("EROFS: read-only file system, access '/data'");
  const outer = new Error('DATA_DIR: /data must be a folder that we may write to', { cause: system });
  expect(reasonOf(outer)).toBe(`${outer.message}\n  because: ${system.message}`);
  expect(reasonOf(new Error('initdb failed: no room', { cause: new Error('no room') }))).toBe('initdb failed: no room');
});

test('a host with several addresses tells why none answered', () => {
  const refused = (address: string) => new Error(`connect ECONNREFUSED ${address}:5432`);
  expect(reasonOf(new AggregateError([refused('::1'), refused('127.0.0.1')]))).toBe(
    'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
  );
});

test('an error that is its own cause ends', () => {
  const error = new Error('again');
  error.cause = error;
  expect(reasonOf(error)).toBe('again');
  expect(reasonOf('no error')).toBe('no error');
});
