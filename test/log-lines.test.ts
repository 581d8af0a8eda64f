import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createLogger, type LogFields } from '../src/log-lines.ts';

function logged(fields: LogFields, message = 'said'): Record<string, unknown> {
  const lines: string[] = [];
  createLogger('info', { write: (line: string) => lines.push(line) }).info(fields, message);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines.join('')) as Record<string, unknown>;
}

describe('a log line', () => {
  it('goes to standard error and leaves standard output alone', () => {
    const script = `
      const { createLogger } = await import('./src/log-lines.ts');
      createLogger('info').info({ port: 1 }, 'up');`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toMatchObject({ level: 'info', port: 1, msg: 'up' });
  });

  it.each([
    '52998224725',
    '529.982.247-25',
    '529982247-25',
    '529.982.24725',
    '529 982 247 25',
    'cpf=52998224725;',
    'line\n52998224725',
    'tab\t52998224725',
    'CPF52998224725',
    '5 2 9 9 8 2 2 4 7 2 5',
    '529*982*247|25',
    '٥٢٩٩٨٢٢٤٧٢٥',
    '{"cpf_trabalhador":"52998224725"}',
  ])('masks the CPF in %j', (text) => {
    const line = JSON.stringify([logged({ text }), logged({}, text), logged({ [text]: 1 })]);
    expect(line.replaceAll(/[^\d]/g, '')).not.toContain('52998224725');
    expect(line).toContain('[masked cpf]');
  });

  it('masks a CPF that was logged as a number and stays JSON', () => {
    expect(logged({ cpf: 52998224725 })['cpf']).toBe('[masked cpf]');
  });

  it('masks what is deep inside', () => {
    expect(logged({ a: [{ b: 'of 52998224725' }] })['a']).toEqual([{ b: 'of [masked cpf]' }]);
  });

  it('masks secrets, tokens and passwords', () => {
    const token = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl-_x';
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw/+==';
    expect(logged({ secret })['secret']).toBe('[masked secret]');
    expect(logged({ token })['token']).toBe('[masked token]');
    expect(logged({ header: `Authorization: bearer ${token}` })['header']).toBe('Authorization: Bearer [masked]');
    expect(logged({ header: 'Bearer opaque-1.2~3+/==' })['header']).toBe('Bearer [masked]');
    expect(logged({ url: 'postgres://carteiro:p@ss:word@db.example:5432/x' })['url']).toBe(
      'postgres://carteiro:[masked password]@db.example:5432/x',
    );
    expect(logged({ url: 'postgres://db.example/x?user=a&password=hunter2&ssl=true' })['url']).toBe(
      'postgres://db.example/x?user=a&password=[masked parameter]&ssl=true',
    );
  });

  it.each([
    '019a12345678-not-an-id',
    '12345678-1234-7123-8123-123456789012',
    '019aa1b2-3456-7890-8123-a12345678901',
    '2026-11-20T23:10:16.123Z',
    '1795216226015',
    '192.168.100.12',
    'https://partner.example:8443/hook/a@b',
    '5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
  ])('leaves %j as it is', (text) => {
    expect(logged({ text })['text']).toBe(text);
  });

  it('leaves epoch milliseconds and durations numbers', () => {
    expect(logged({ at: 1795216226015, durationMs: 12.5 })).toMatchObject({ at: 1795216226015, durationMs: 12.5 });
  });

  it('tells of an error its name, code, message and cause, and nothing that the driver hung on it', () => {
    const cause = Object.assign(new Error('inner'), { code: '23505', detail: 'Key (cpf)=(1)', parameters: ['x'] });
    const error = new Error('outer for 529.982.247-25', { cause });
    const { err } = logged({ err: error }) as { err: Record<string, unknown> };
    expect(err).toMatchObject({ message: 'outer for [masked cpf]', cause: { code: '23505', message: 'inner' } });
    expect(JSON.stringify(err)).not.toMatch(/detail|parameters/);
  });
});
