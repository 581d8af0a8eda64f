/** A DNS server on loopback with the answers of a test. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode } from 'dns-packet';
import { endOf } from './ends.ts';

/** The answer for a name: its addresses, a fault, or silence (also of one kind alone); `late` comes after 2.5 s. */
type Answer = readonly string[] | keyof typeof CODES | 'silence' | 'no AAAA' | 'late';
type Zone = Readonly<Record<string, Answer>>;

const CODES = { 'no such name': 3, 'server failure': 2, refused: 5 } as const;
const LATE_MS = 2_500;

/** Starts a server of `zone`; an entry `*.example` answers for each name directly under it without its own. */
export async function startDnsServer(zone: Zone) {
  const asked: string[] = [];
  const late = new Set<NodeJS.Timeout>();
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (id === undefined || question === undefined) return;
    const { name, type } = question;
    asked.push(`${name} ${type}`);
    const known = zone[name.toLowerCase()] ?? zone[`*${name.slice(name.indexOf('.'))}`] ?? 'no such name';
    if (known === 'silence' || (known === 'no AAAA' && type === 'AAAA')) return;
    const addresses = known === 'no AAAA' || known === 'late' ? ['127.0.0.1'] : typeof known === 'string' ? [] : known;
    const answer = encode({
      id,
      type: 'response',
      flags: typeof known === 'string' && known in CODES ? CODES[known as keyof typeof CODES] : 0,
      questions,
      answers: addresses
        .filter((address) => address.includes(':') === (type === 'AAAA'))
        .map((data) => ({ name, type: type === 'AAAA' ? 'AAAA' : 'A', ttl: 1, data })),
    });
    const send = () => socket.send(answer, from.port, from.address);
    if (known === 'late') late.add(setTimeout(send, LATE_MS).unref());
    else send();
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  endOf(() => {
    for (const timer of late) clearTimeout(timer);
    return new Promise<void>((resolve) => socket.close(() => resolve()));
  });
  return {
    /** `address:port` */
    address: `127.0.0.1:${socket.address().port}`,
    /** Questions so far, as `name type`. */
    asked,
  };
}
