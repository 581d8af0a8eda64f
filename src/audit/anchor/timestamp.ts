/** RFC 3161: an authority signs that the checkpoint existed at a time. The receipt is its response, for `openssl ts -verify`. */
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import * as asn1 from 'asn1js';
import * as pki from 'pkijs';
import { type Anchor, ask as askAnybody, said } from './anchor.ts';

const SHA256 = '2.16.840.1.101.3.4.2.1';
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const GRANTED = new Set([pki.PKIStatus.granted, pki.PKIStatus.grantedWithMods]);

interface TimestampPlace {
  readonly url: string;
  /** Certificates in PEM that the authority's chain must lead to. With null only the response's own signature is verified. */
  readonly roots: string | null;
  readonly ask?: typeof askAnybody;
}

export function timestampAnchor({ url, roots, ask = askAnybody }: TimestampPlace): Anchor {
  const { origin, pathname } = new URL(url);
  return {
    kind: 'carimbo_de_tempo',
    place: `${origin}${pathname}`,
    async put({ note }) {
      const nonce = randomBytes(8);
      // A positive integer in DER, of its shortest form.
      nonce[0] = ((nonce[0] ?? 0) & 0x7f) | 1;
      const headers = { 'Content-Type': 'application/timestamp-query' };
      const { status, body } = await ask(url, { method: 'POST', headers, body: new Uint8Array(queryOf(note, nonce)) });
      if (status !== 200) throw new Error(`it answers ${status}${said(body)}`);
      const stamp = await readStamp(body, note, roots);
      if ('wrong' in stamp) throw new Error(`its time stamp does not verify: ${stamp.wrong}`);
      if (!stamp.nonce.equals(nonce)) throw new Error('its time stamp is the answer to another question');
      return body;
    },
  };
}

function digestOf(note: string): Buffer {
  return createHash('sha256').update(note).digest();
}

function queryOf(note: string, nonce: Buffer): Buffer {
  const hashAlgorithm = new pki.AlgorithmIdentifier({ algorithmId: SHA256, algorithmParams: new asn1.Null() });
  const hashedMessage = new asn1.OctetString({ valueHex: new Uint8Array(digestOf(note)) });
  const messageImprint = new pki.MessageImprint({ hashAlgorithm, hashedMessage });
  const integer = new asn1.Integer({ valueHex: new Uint8Array(nonce) });
  const query = new pki.TimeStampReq({ version: 1, messageImprint, nonce: integer, certReq: true });
  return Buffer.from(query.toSchema().toBER());
}

export type Stamp =
  | { readonly at: Date; readonly nonce: Buffer; readonly isTrusted: boolean }
  | { readonly wrong: string };

/** Reads and verifies a response about this note. `isTrusted`: its chain leads to one of `roots`, as of the stamp's time. */
export async function readStamp(response: Buffer, note: string, roots: string | null): Promise<Stamp> {
  if (asn1.fromBER(new Uint8Array(response)).offset < 0)
    return { wrong: 'it is none of RFC 3161: the URL must be the one that takes queries' };
  try {
    const { status, timeStampToken } = pki.TimeStampResp.fromBER(new Uint8Array(response));
    if (!GRANTED.has(status.status) || timeStampToken === undefined) return { wrong: 'it was refused' };
    const signed = new pki.SignedData({ schema: timeStampToken.content as unknown });
    const content = signed.encapContentInfo.eContent;
    if (content === undefined || signed.signerInfos.length !== 1) return { wrong: 'it is no time stamp' };
    const info = pki.TSTInfo.fromBER(new Uint8Array(content.getValue()));
    if (!Buffer.from(info.messageImprint.hashedMessage.getValue()).equals(digestOf(note)))
      return { wrong: 'it is of another text' };
    const trustedCerts = roots === null ? [] : readRoots(roots);
    const { signatureVerified, signerCertificate } = await signed.verify({
      signer: 0,
      data: new Uint8Array(Buffer.from(note)).buffer,
      extendedMode: true,
      ...(roots !== null && { trustedCerts, checkChain: true, checkDate: info.genTime }),
    });
    if (signatureVerified !== true) return { wrong: 'its signature does not fit' };
    if (!isForStamps(signerCertificate ?? null)) return { wrong: 'its signer may not make time stamps' };
    const nonce = Buffer.from(info.nonce?.valueBlock.valueHexView ?? []);
    return { at: info.genTime, nonce, isTrusted: roots !== null };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : 'it is no time stamp' };
  }
}

function isForStamps(certificate: pki.Certificate | null): boolean {
  if (certificate === null) return false;
  return new X509Certificate(Buffer.from(certificate.toSchema().toBER())).keyUsage?.includes(TIME_STAMPING) ?? false;
}

function readRoots(pem: string): pki.Certificate[] {
  const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];
  const blocks = pem
    .split(begin)
    .slice(1)
    .filter((block) => block.includes(end))
    .map((block) => `${begin}${block.slice(0, block.indexOf(end))}${end}`);
  if (blocks.length === 0) throw new Error('the file of trusted certificates holds none');
  return blocks.map((block) => pki.Certificate.fromBER(new Uint8Array(new X509Certificate(block).raw)));
}
