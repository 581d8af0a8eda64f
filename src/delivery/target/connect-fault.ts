type ConnectFaultKind = 'refused' | 'unresolved' | 'connection' | 'tls';

/** `reason` is a code such as `ECONNREFUSED`; the message is safe to keep. */
export class ConnectFault extends Error {
  override name = 'ConnectFault';
  readonly kind: ConnectFaultKind;
  readonly reason: string;
  /** The address connected to before the fault, if any. */
  readonly address: string | null;

  constructor(kind: ConnectFaultKind, reason: string, message: string, address: string | null = null) {
    super(message);
    this.kind = kind;
    this.reason = reason;
    this.address = address;
  }
}
