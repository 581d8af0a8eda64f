/** What a process takes of the server, as the code has it, the operators' page and the doctor. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { roomFor } from '../../src/main/operations/doctor-server.ts';
import { MOST } from '../../src/main/service/pools.ts';

test('the page says how many connections each process has at most, and how many a release needs', () => {
  const page = readFileSync('src/main/README.md', 'utf8');
  expect(page).toContain(`| \`api\` | ${MOST.api} |`);
  expect(page).toContain(`| \`poll\` | ${MOST.poll} |`);
  expect(page).toContain(`| a command, and each [job](#jobs) | ${MOST.job} |`);
  const all = 2 * MOST.api + 2 * MOST.poll + MOST.job;
  expect(page).toContain(`have ${all} at most`);
  expect(page).toContain(`of each: ${all + MOST.api + MOST.poll}.`);
});

test('a server without room for one more of each is told of before a release fails', () => {
  const release = MOST.api + MOST.poll;
  expect(roomFor(100 - release, 100)).toMatchObject({ about: 'sessions', verdict: 'ok' });
  expect(roomFor(101 - release, 100)).toMatchObject({ verdict: 'warning', found: expect.stringContaining('of 100') });
});
