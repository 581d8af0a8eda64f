/** The receivers that README shows, held against deliveries as they left: genuine, tampered, and during a rotation. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeliveryWorld, startDeliveryWorld } from '../support/delivery-world.ts';
import { type Post, startReceiver } from '../support/receiver.ts';
import { folderWith, isThere, run, snippet } from '../support/snippets.ts';

let world: DeliveryWorld;
let secret: string;
let newSecret: string;
/** Before and during a rotation. */
let post: Post;
let rotating: Post;

beforeAll(async () => {
  world = await startDeliveryWorld();
  const partner = await world.subscriber();
  const webhook = await partner.register();
  const next = async (): Promise<Post> => {
    await partner.emit();
    await world.deliver();
    return world.postsTo(webhook.path).at(-1) as Post;
  };
  secret = webhook.secret;
  post = await next();
  newSecret = (await partner.send<{ secret: string }>('POST', `/v1/webhooks/${webhook.id}/segredo`)).body.secret;
  rotating = await next();
});
afterAll(() => world.close());

const OTHER = 'whsec_b3V0cm8gc2VncmVkbyBxdWUgbmFvIMOpIGVzdGU=';

function tampered({ body }: Post): Buffer {
  return Buffer.from(body.toString().replace('desembolso', 'desembolsO'));
}

test('`verify` in TypeScript', async () => {
  const folder = await folderWith({ 'verify.ts': await snippet('verify.ts') });
  const file = pathToFileURL(path.join(folder.path, 'verify.ts')).href;
  type Verify = (body: Uint8Array, headers: object, secrets: readonly string[], now?: number) => boolean;
  const { verify } = (await import(/* @vite-ignore */ file)) as { verify: Verify };
  const { body, headers } = post;
  expect(verify(body, headers, [secret])).toBe(true);
  expect(verify(tampered(post), headers, [secret])).toBe(false);
  expect(verify(body, headers, [OTHER])).toBe(false);
  expect(verify(body, headers, [OTHER, secret])).toBe(true);
  expect(verify(body, headers, [])).toBe(false);
  expect(verify(body, headers, ['', 'whsec_'])).toBe(false);
  expect(verify(body, {}, [secret])).toBe(false);
  expect(verify(body, { ...headers, 'webhook-id': 'other' }, [secret])).toBe(false);
  expect(verify(body, { ...headers, 'webhook-timestamp': undefined }, [secret])).toBe(false);
  const sentAt = Number(headers['webhook-timestamp']) * 1_000;
  expect(verify(body, headers, [secret], sentAt + 299_000)).toBe(true);
  expect(verify(body, headers, [secret], sentAt + 301_000)).toBe(false);
  expect(verify(body, headers, [secret], sentAt - 301_000)).toBe(false);
  for (const either of [secret, newSecret]) expect(verify(rotating.body, rotating.headers, [either])).toBe(true);
  await folder.remove();
});

test('the receiver in Node', async () => {
  const files = { 'verify.ts': await snippet('verify.ts'), 'receiver.mjs': await snippet('receiver.mjs') };
  const folder = await folderWith(files);
  const { port, close } = await startReceiver();
  await close();
  const env = { PATH: process.env['PATH'], PORT: String(port), CARTEIRO_SECRETS: `${OTHER},${secret}` };
  const child = spawn(process.execPath, ['receiver.mjs'], { cwd: folder.path, env, stdio: 'ignore' });
  try {
    expect(await postTo(port, post.body)).toBe(204);
    expect(await postTo(port, tampered(post))).toBe(401);
  } finally {
    child.kill();
    await folder.remove();
  }
});

/** Sends again what was received, once the receiver listens. */
async function postTo(port: number, body: Buffer): Promise<number> {
  const headers = Object.entries(post.headers).filter(([name]) => /webhook|content-type/.test(name)) as [
    string,
    string,
  ][];
  for (;;) {
    try {
      return (await fetch(`http://127.0.0.1:${port}/carteiro`, { method: 'POST', headers, body: new Uint8Array(body) }))
        .status;
    } catch {
      await sleep(50);
    }
  }
}

/** One case a line: secrets, the two headers and the body, with a tab between them; the program prints true or false. */
interface Language {
  readonly name: string;
  readonly needs: readonly [string, ...string[]];
  readonly file: string;
  readonly harness: Readonly<Record<string, string>>;
  readonly commands: readonly (readonly [string, ...string[]])[];
}

const PYTHON: Language = {
  name: 'Python',
  needs: ['python3', '--version'],
  file: 'carteiro.py',
  harness: {
    'main.py': `import base64, sys
from carteiro import verify
for line in sys.stdin:
    secrets, signature, previous, body = line.rstrip("\\n").split("\\t")
    print(str(verify(base64.b64decode(body), signature, previous, secrets.split(","))).lower())
`,
  },
  commands: [['python3', 'main.py']],
};

const JAVA: Language = {
  name: 'Java',
  needs: ['javac', '-version'],
  file: 'Carteiro.java',
  harness: {
    'Main.java': `import java.util.*;
public class Main {
    public static void main(String[] args) throws Exception {
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine();) {
            String[] part = lines.nextLine().split("\\t", -1);
            byte[] body = Base64.getDecoder().decode(part[3]);
            System.out.println(Carteiro.verify(body, part[1], part[2], List.of(part[0].split(","))));
        }
    }
}
`,
  },
  commands: [
    ['javac', 'Carteiro.java', 'Main.java'],
    ['java', '-cp', '.', 'Main'],
  ],
};

const GO: Language = {
  name: 'Go',
  needs: ['go', 'version'],
  file: 'carteiro.go',
  harness: {
    'go.mod': 'module receiver\n\ngo 1.21\n',
    'main.go': `package main
import ("bufio"; "encoding/base64"; "fmt"; "os"; "strings")
func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		part := strings.Split(lines.Text(), "\\t")
		body, _ := base64.StdEncoding.DecodeString(part[3])
		fmt.Println(Verify(body, part[1], part[2], strings.Split(part[0], ",")))
	}
}
`,
  },
  commands: [['go', 'run', '.']],
};

test.for([PYTHON, JAVA, GO])('`verify` in $name', { timeout: 600_000 }, async (language, context) => {
  const { name, needs, file, harness, commands } = language;
  if (!(await isThere(needs))) context.skip(`the receiver in ${name} was not run: no ${needs[0]} on this machine`);
  const line = (secrets: string, { headers, body }: Pick<Post, 'headers' | 'body'>) =>
    [
      secrets,
      headers['x-webhook-signature'],
      headers['x-webhook-signature-previous'] ?? '',
      body.toString('base64'),
    ].join('\t');
  const cases: readonly [string, boolean][] = [
    [line(secret, post), true],
    [line(secret, { headers: post.headers, body: tampered(post) }), false],
    [line(secret, { headers: { 'x-webhook-signature': 'sha256=00' }, body: post.body }), false],
    [line(secret, { headers: { 'x-webhook-signature': '' }, body: post.body }), false],
    [line(OTHER, post), false],
    [line(`${OTHER},${secret}`, post), true],
    [line(secret, rotating), true],
    [line(newSecret, rotating), true],
    [line(OTHER, rotating), false],
  ];
  const folder = await folderWith({ [file]: await snippet(file), ...harness });
  let printed = '';
  const input = `${cases.map(([text]) => text).join('\n')}\n`;
  for (const command of commands) printed = await run(command, folder.path, input);
  expect(printed.trim().split('\n')).toEqual(cases.map(([, expected]) => String(expected)));
  await folder.remove();
});
