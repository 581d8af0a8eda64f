/** What the server knows of a request; of one within this process nothing. */
export interface Sent {
  readonly incoming?: { readonly socket: { resetAndDestroy(): unknown } };
  /** Closes when the answer is out, or the client has gone. */
  readonly outgoing?: { readonly closed: boolean; once(event: 'close', then: () => void): unknown };
}

export type Fetch = (request: Request, sent?: Sent) => Response | Promise<Response>;

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
