import { startSmallReceiver } from './receiver.ts';

export interface PrintDeliveriesOptions {
  readonly port: number;
  readonly secret: string | null;
  readonly print: (text: string) => void;
}

/** Control and invisible characters written out, and lines indented: what a stranger sends shall not steer the terminal. */
export function printable(text: string): string {
  const escape = (sign: string) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
  return text.replaceAll(/[^\P{C}\n\t]/gu, escape).replaceAll('\n', '\n  ');
}

/** Prints each delivery until Ctrl-C; answers 200, or 401 to a signature that does not fit the secret. */
export async function printDeliveries({ port, secret, print }: PrintDeliveriesOptions): Promise<void> {
  const receiver = await startSmallReceiver({
    port,
    secretOf: () => secret,
    onDelivery({ event, delivery, body, isSignatureValid }) {
      const verdict = { null: 'signature not checked', true: 'signature OK', false: 'SIGNATURE WRONG' }[
        String(isSignatureValid) as 'null' | 'true' | 'false'
      ];
      print(`${printable(event)}  ${printable(delivery)}  ${verdict}\n  ${printable(body.toString())}`);
      return isSignatureValid === false ? 401 : 200;
    },
  });
  print(`receiving on ${receiver.url}/ (Ctrl-C stops it)`);
}
