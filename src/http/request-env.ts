import { randomBytes } from 'node:crypto';

/** What the server knows of a request; of one within this process nothing. */
export interface Sent {
  /** Closes when the answer is out, or the client has gone. */
  readonly outgoing?: { readonly closed: boolean; once(event: 'close', then: () => void): unknown };
}

export type Fetch = (request: Request, sent?: Sent) => Response | Promise<Response>;

/** What travels with one request. */
export interface Env {
  Bindings: Sent;
  Variables: {
    requestId: string;
    /** The matched route's pattern, `-` before there is one. */
    route: string;
    partnerId: string | null;
    /** Why the token was refused, in words that hold nothing of it. */
    refused?: string;
  };
}

/** A fresh UUID version 7: it sorts by time, as every id of the service does. */
export function newRequestId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
