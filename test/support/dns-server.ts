/** A DNS server on loopback with the answers of a test. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode } from 'dns-packet';

/** The answer for a name: its addresses, that it does not exist, or silence. */
type Zone = Readonly<Record<string, readonly string[] | 'no such name' | 'silence'>>;

const NO_SUCH_NAME = 3;

/** Starts a server of `zone`; an entry `*.example` answers for each name directly under it without its own. */
export async function startDnsServer(zone: Zone) {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (id === undefined || question === undefined) return;
    const { name, type } = question;
    asked.push(`${name} ${type}`);
    const known = zone[name.toLowerCase()] ?? zone[`*${name.slice(name.indexOf('.'))}`] ?? 'no such name';
    if (known === 'silence') return;
    const addresses = known === 'no such name' ? [] : known;
    const answer = encode({
      id,
      type: 'response',
      flags: known === 'no such name' ? NO_SUCH_NAME : 0,
      questions,
      answers: addresses
        .filter((address) => address.includes(':') === (type === 'AAAA'))
        .map((data) => ({ name, type: type === 'AAAA' ? 'AAAA' : 'A', ttl: 1, data })),
    });
    socket.send(answer, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    /** `address:port` */
    address: `127.0.0.1:${socket.address().port}`,
    /** Questions so far, as `name type`. */
    asked,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}
