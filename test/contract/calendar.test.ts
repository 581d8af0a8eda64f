import { expect, test } from 'vitest';
import { addDays, dayOf, monthsBefore, startOfDay } from '../../src/contract/calendar.ts';

test('the day is that of São Paulo, three hours behind UTC', () => {
  expect(dayOf(new Date('2026-01-01T02:59:59.999Z'))).toBe('2025-12-31');
  expect(dayOf(new Date('2026-01-01T03:00:00.000Z'))).toBe('2026-01-01');
});

test('days are added over ends of months and leap days', () => {
  expect(addDays('2026-01-31', 1)).toBe('2026-02-01');
  expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
  expect(addDays('2026-12-20', 15)).toBe('2027-01-04');
});

test('months are counted back to a day that there is', () => {
  expect(monthsBefore('2026-11-23', 24)).toBe('2024-11-23');
  expect(monthsBefore('2026-03-31', 1)).toBe('2026-02-28');
  expect(monthsBefore('2026-01-15', 13)).toBe('2024-12-15');
  expect(monthsBefore('2028-02-29', 24)).toBe('2026-02-28');
});

test.each([
  ['2026-07-01', '2026-07-01T03:00:00.000Z'],
  ['2026-12-31', '2026-12-31T03:00:00.000Z'],
  // Summer time was two hours behind, and began at midnight: that day had no hour from 0 to 1.
  ['2018-11-03', '2018-11-03T03:00:00.000Z'],
  ['2018-11-04', '2018-11-04T03:00:00.000Z'],
  ['2018-11-05', '2018-11-05T02:00:00.000Z'],
  ['1970-01-01', '1970-01-01T03:00:00.000Z'],
])('%s begins in São Paulo at %s', (day, at) => {
  expect(startOfDay(day)).toEqual(new Date(at));
  expect(dayOf(new Date(startOfDay(day).getTime() - 1))).toBe(addDays(day, -1));
});
