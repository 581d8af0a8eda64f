import { expect, test } from 'vitest';
import { addDays, dayOf } from '../../src/loan/calendar.ts';

test('the day is that of São Paulo, three hours behind UTC', () => {
  expect(dayOf(new Date('2026-01-01T02:59:59.999Z'))).toBe('2025-12-31');
  expect(dayOf(new Date('2026-01-01T03:00:00.000Z'))).toBe('2026-01-01');
});

test('days are added over ends of months and leap days', () => {
  expect(addDays('2026-01-31', 1)).toBe('2026-02-01');
  expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
  expect(addDays('2026-12-20', 15)).toBe('2027-01-04');
});
