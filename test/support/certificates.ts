/** Certificates for tests, made at run time: no key is committed and no `openssl` is needed. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface Identity {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  /** PEM of the authority's own certificate, for the client to trust. */
  readonly ca: string;
  /** A server's key and certificate for DNS names and IPv4 addresses, valid from a day before to a day after `aroundMs` (default: now). */
  issue(names: readonly string[], aroundMs?: number): Identity;
}

const DAY_MS = 86_400_000;
const OID_ECDSA_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const OID_COMMON_NAME = [0x55, 0x04, 0x03];
const OID_ALT_NAMES = [0x55, 0x1d, 0x11];
const OID_BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];

/** One DER element; lengths up to 65,535. */
function der(tag: number, ...parts: readonly (Buffer | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = content;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...header]), content]);
}

const sequence = (...parts: readonly (Buffer | readonly number[])[]) => der(0x30, ...parts);
const oid = (bytes: readonly number[]) => der(0x06, bytes);

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid(OID_COMMON_NAME), der(0x0c, Buffer.from(commonName)))));
}

function time(atMs: number): Buffer {
  return der(0x18, Buffer.from(`${new Date(atMs).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

function extension(id: readonly number[], value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function pem(label: string, bytes: Buffer): string {
  return `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
}

interface Subject {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly altNames: readonly string[];
  readonly isAuthority: boolean;
  readonly aroundMs: number;
}

function certificate(issuer: string, issuerKey: KeyObject, subject: Subject): string {
  const algorithm = sequence(oid(OID_ECDSA_SHA256));
  const altNames = subject.altNames.map((name) =>
    isIPv4(name) ? der(0x87, name.split('.').map(Number)) : der(0x82, Buffer.from(name)),
  );
  const extensions = subject.isAuthority
    ? [extension(OID_BASIC_CONSTRAINTS, sequence(der(0x01, [0xff])))]
    : [extension(OID_ALT_NAMES, sequence(...altNames))];
  const body = sequence(
    der(0xa0, der(0x02, [2])),
    der(0x02, [1], randomBytes(8)),
    algorithm,
    distinguishedName(issuer),
    sequence(time(subject.aroundMs - DAY_MS), time(subject.aroundMs + DAY_MS)),
    distinguishedName(subject.name),
    subject.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, issuerKey);
  return pem('CERTIFICATE', sequence(body, algorithm, der(0x03, [0], signature)));
}

/** A server's self-signed certificate. */
export function selfSigned(altNames: readonly string[]): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = altNames[0] ?? 'ninguém';
  const subject = { name, publicKey, altNames, isAuthority: false, aroundMs: Date.now() };
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: certificate(name, privateKey, subject),
  };
}

/** A new certificate authority, which nobody trusts. */
export function makeAuthority(name = 'Autoridade de teste'): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const nowMs = Date.now();
  const own = { name, publicKey: keys.publicKey, altNames: [], isAuthority: true, aroundMs: nowMs };
  return {
    ca: certificate(name, keys.privateKey, own),
    issue(altNames, aroundMs = nowMs) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const subject = { name: altNames[0] ?? 'ninguém', publicKey, altNames, isAuthority: false, aroundMs };
      return {
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        cert: certificate(name, keys.privateKey, subject),
      };
    },
  };
}
