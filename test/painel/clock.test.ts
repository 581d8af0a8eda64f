/** The page's clock, of whatever a form or an address sends. */
import { expect, test } from 'vitest';
import { instantOf } from '../../src/painel/frame/clock.ts';

test.each([
  ['America/Sao_Paulo', '2026-01-31T12:00', '2026-01-31T12:00:00-03:00'],
  ['Europe/Lisbon', '2026-07-31T12:00:30', '2026-07-31T12:00:30+01:00'],
  ['UTC', '2026-01-31T12:00', '2026-01-31T12:00:00+00:00'],
  ['America/Sao_Paulo', '0000-01-01T00:00', '0000-01-01T00:00:00-03:06'],
  ['America/Sao_Paulo', '9999-12-31T23:59', '9999-12-31T23:59:00-03:00'],
  ['America/Sao_Paulo', '2026-13-45T99:99', '2026-13-45T99:99'],
  ['America/Sao_Paulo', '2026-01-31', '2026-01-31'],
] as const)('in %s the form’s %s is %s', (zone, given, instant) => {
  expect(instantOf(zone, given)).toBe(instant);
});
