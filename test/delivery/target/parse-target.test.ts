import { describe, expect, test } from 'vitest';
import { parseTarget } from '../../../src/delivery/target/parse-target.ts';

const strict = (text: string) => parseTarget(text, { allowInsecure: false });
const sandbox = (text: string) => parseTarget(text, { allowInsecure: true });
const refusal = { refused: expect.any(String) as string };

describe('an absolute https URL with a public name', () => {
  test.each([
    ['https://Hooks.Example.COM', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/a/../b?c=d', 'https://hooks.example.com/b?c=d'],
    ['HTTPS://hooks.example.com:8443/', 'https://hooks.example.com:8443/'],
    ['https://bücher.example/ç', 'https://xn--bcher-kva.example/%C3%A7'],
    ['https://hooks.example.com./', 'https://hooks.example.com./'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2001:4860:4860::8888]/', 'https://[2001:4860:4860::8888]/'],
    ['https://hooks.example.com/a@b', 'https://hooks.example.com/a@b'],
    ['https://hooks.example.com/5%', 'https://hooks.example.com/5%25'],
    ['https://hooks.example.com/%7b%7?a|b={[c]}&d=5%', 'https://hooks.example.com/%7b%257?a%7Cb=%7B%5Bc%5D%7D&d=5%25'],
    ['https://hooks.example.com/?', 'https://hooks.example.com/?'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
    ['https://mylocalhost.com/', 'https://mylocalhost.com/'],
  ])('%s is accepted and normalised', (text, url) => {
    expect(strict(text)).toEqual({ url });
  });
});

describe('what the rules of the webhook refuse', () => {
  test.each([
    '',
    'hooks.example.com',
    '//hooks.example.com/',
    '/hook',
    'https:hooks.example.com',
    'https:/hooks.example.com',
    'https:///hooks.example.com',
    'https://',
    'https://?a',
    'ftp://hooks.example.com/',
    'wss://hooks.example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://hooks.example.com/',
    'https://user@hooks.example.com/',
    'https://user:pass@hooks.example.com/',
    'https://@hooks.example.com/',
    'https://:@hooks.example.com/',
    'https://hooks.example.com/#',
    'https://hooks.example.com/#part',
    'https://hooks.example.com#',
    'https://hooks.example.com:0/',
    'https://hooks.example.com:000/',
    'https://hooks.example.com:65536/',
    'https://hooks.example.com:8o/',
    ' https://hooks.example.com/',
    'https://hooks.example.com/ ',
    'https://hooks.example.com/a b',
    'ht\ntps://hooks.example.com/',
    'https://hooks.exa\tmple.com/',
    'https://hooks.example.com/\u0000',
    'https://hooks.example.com/\u00ad',
    'https://hooks.exa\u200bmple.com/',
    'https://hooks.example.com/\ud800',
    'https:\\\\hooks.example.com\\',
    'https://hooks.example.com\\@evil.example/',
    'https://a..example.com/',
    'https://exa%00mple.com/',
    'https://exam%23ple.com/',
    'https://[::1',
  ])('%j is refused', (text) => {
    expect(strict(text)).toEqual(refusal);
  });

  test.each([
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    'localhost..',
    'printer.local',
    'printer.LOCAL.',
    'metadata.google.internal',
    'local',
    'internal',
    'receiver',
    'receiver.',
    'ｌｏｃａｌｈｏｓｔ',
    '%6cocalhost',
  ])('the name %s is refused', (name) => {
    expect(strict(`https://${name}/`)).toEqual(refusal);
  });

  test.each([
    '127.0.0.1',
    '127.0.0.1.',
    '2130706433',
    '0x7f000001',
    '017700000001',
    '0177.0.0.1',
    '127.1',
    '0',
    '10.0.0.1',
    '192.168.257',
    '169.254.169.254',
    '0xA9FEA9FE',
    '１２７。０。０。１',
    '%31%32%37.0.0.1',
    '[::]',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:7f00:1::]',
    '[fd00::1]',
    '[fe80::1]',
    '[fe80::1%25eth0]',
  ])('the literal address %s is refused', (host) => {
    expect(strict(`https://${host}/`)).toEqual(refusal);
  });
});

describe('length', () => {
  const base = 'https://hooks.example.com/';

  test('2,048 characters are accepted and 2,049 refused', () => {
    expect(strict(base.padEnd(2_048, 'a'))).toEqual({ url: base.padEnd(2_048, 'a') });
    expect(strict(base.padEnd(2_049, 'a'))).toEqual(refusal);
  });

  test('a URL that grows beyond 2,048 characters when normalised is refused', () => {
    expect(strict(base.padEnd(1_000, 'é'))).toEqual(refusal);
  });

  test('a URL that is too long as given is refused although its normalised form is short', () => {
    expect(strict(`${base}${'a/../'.repeat(1_000)}`)).toEqual(refusal);
  });
});

describe('in a sandbox', () => {
  test.each([
    'http://localhost:3000/',
    'http://receiver:8080/hook',
    'http://a.local/',
    'http://127.0.0.1:9999/',
    'http://10.1.2.3/',
    'http://[::1]:8080/',
    'http://[fd12::1]/',
    'https://localhost/',
    'http://hooks.example.com/',
  ])('%s is accepted', (url) => {
    expect(sandbox(url)).toEqual({ url });
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[fd00:ec2::254]/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://192.0.2.1/',
    'http://user@localhost/',
    'http://localhost/#',
    'http://localhost:0/',
    'ftp://localhost/',
  ])('%s is still refused', (url) => {
    expect(sandbox(url)).toEqual(refusal);
  });
});
