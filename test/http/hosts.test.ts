/** A request's Host: what a page gets whose name was made to point at this machine. */
import { expect, test } from 'vitest';
import { forOwnHosts } from '../../src/http/auth/hosts.ts';

const PUBLIC = new URL('https://carteiro.example.com');

async function ask(url: string, isSandbox: boolean, publicUrl: URL | null) {
  const answer = await forOwnHosts(() => new Response('ok'), isSandbox, publicUrl)(new Request(url));
  return [
    answer.status,
    answer.status === 200 ? await answer.text() : ((await answer.json()) as { codigo: string }).codigo,
  ];
}

const OK = [200, 'ok'];
const REFUSED = [421, 'HOST_NAO_ATENDIDO'];

test.each([
  'http://localhost:3000/painel',
  'http://127.0.0.1/',
  'http://127.9.9.9/v1/webhooks',
  'http://[::1]:3000/docs',
])('the sandbox answers %s', async (url) => {
  expect(await ask(url, true, null)).toEqual(OK);
  expect(await ask(url, true, PUBLIC)).toEqual(OK);
  expect(await ask(url, false, PUBLIC)).toEqual(OK);
});

test.each([
  'http://rebind.example/painel/entrar/sandbox',
  'http://rebind.example/healthz',
  'http://127.0.0.1.rebind.example/',
  'http://localhost.rebind.example/',
  'http://10.0.0.7:3000/',
  'http://0.0.0.0:3000/',
])('the sandbox refuses %s', async (url) => {
  expect(await ask(url, true, null)).toEqual(REFUSED);
  expect(await ask(url, true, PUBLIC)).toEqual(REFUSED);
});

test('PUBLIC_URL is answered, on any port; in production probes and metrics are, by whatever name', async () => {
  expect(await ask('http://carteiro.example.com/v1/webhooks', true, PUBLIC)).toEqual(OK);
  expect(await ask('http://carteiro.example.com:3000/', false, PUBLIC)).toEqual(OK);
  expect(await ask('http://10.0.0.7:3000/v1/webhooks', false, PUBLIC)).toEqual(REFUSED);
  for (const path of ['healthz', 'readyz', 'metrics']) {
    expect(await ask(`http://10.0.0.7:3000/${path}`, false, PUBLIC)).toEqual(OK);
  }
  expect(await ask('http://10.0.0.7:3000/metricsx', false, PUBLIC)).toEqual(REFUSED);
});

test('production without PUBLIC_URL answers to every name', async () => {
  expect(await ask('http://rebind.example/v1/webhooks', false, null)).toEqual(OK);
});
