/** Who gets in, with what, and from where a change may come. */
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { TOKEN_TTL_S } from '../support/api.ts';
import { formTokenIn, type PainelWorld, READER, startPainelWorld, WRITER } from '../support/painel.ts';

const world = await startPainelWorld();

const cookieOf = (headers: Headers) => headers.getSetCookie().find((line) => line.startsWith('carteiro_painel=')) ?? '';

/** Signs in under a host's name, which fetch would not let a client choose; true when the cookie asks for TLS. */
async function signInAt({ server }: PainelWorld, host: string, token: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const headers = {
    Host: host,
    'Sec-Fetch-Site': 'same-origin',
    'Content-Type': 'application/x-www-form-urlencoded',
  };
  request(`${server.url}/painel/entrar`, { method: 'POST', headers }, (response) => {
    response.resume();
    resolve(response.headers['set-cookie'] ?? []);
  }).end(new URLSearchParams({ token }).toString());
  const [cookie = ''] = await promise;
  expect(cookie).toMatch(/^carteiro_painel=/);
  return cookie.includes('Secure');
}

describe('the door', () => {
  test('without a session every page leads to the sign-in, and back afterwards', async () => {
    const visitor = world.visitor();
    const sent = await visitor.get('/painel/entregas?status=erro');
    expect([sent.status, sent.headers.get('location')]).toEqual([
      303,
      '/painel/entrar?motivo=entre&volta=%2Fpainel%2Fentregas%3Fstatus%3Derro',
    ]);
    const door = await visitor.get(sent.headers.get('location') ?? '');
    expect(door.status).toBe(200);
    expect(door.text).toContain('value="/painel/entregas?status=erro"');
  });

  test('a token opens a session that lives as long as it does, in a cookie no script can read', async () => {
    const visitor = world.visitor();
    const { status, headers } = await visitor.signIn(await world.api.token(await world.api.partner(), READER));
    expect([status, headers.get('location')]).toEqual([303, '/painel']);
    const cookie = cookieOf(headers);
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).toMatch(/Path=\/painel/);
    const maxAge = Number(/Max-Age=(\d+)/.exec(cookie)?.[1]);
    expect(maxAge).toBeGreaterThan(TOKEN_TTL_S / 2);
    expect(maxAge).toBeLessThanOrEqual(TOKEN_TTL_S);
    expect((await visitor.get('/painel')).headers.get('location')).toBe('/painel/visao');
  });

  test('the way back is a page of this host, whatever the form says', async () => {
    const token = await world.api.token(await world.api.partner(), READER);
    for (const volta of [
      'https://evil.example/',
      '//evil.example',
      '/painel\\evil',
      '/painelx',
      '/v1/webhooks',
      '/painel//x\n',
    ]) {
      const { headers } = await world.visitor().post('/painel/entrar', { token, volta });
      expect(headers.get('location')).toMatch(/^\/painel(\/\/x)?$/);
    }
  });

  test.each([
    ['', 400, 'Cole um token.'],
    ['nonsense', 401, 'o token é inválido'],
    ['x'.repeat(3_801), 401, 'não cabe num cookie'],
  ])('what is no token is refused in a sentence', async (token, status, sentence) => {
    const seen = await world.visitor().signIn(token);
    expect(seen.status).toBe(status);
    expect(seen.text).toContain(sentence);
    expect(cookieOf(seen.headers)).toBe('');
  });

  test('a token of nobody who may see a page is told so', async () => {
    const { status, text } = await world
      .visitor()
      .signIn(await world.api.token(await world.api.partner(), ['margem:read']));
    expect(status).toBe(403);
    expect(text).toContain('nenhum dos seus escopos');
  });

  test('a session whose partner was deactivated ends at the next page', async () => {
    const partnerId = await world.api.partner();
    const visitor = await world.signedIn(partnerId);
    expect((await visitor.get('/painel/entregas')).status).toBe(200);
    await world.api.database.sql`update partners set active = false where id = ${partnerId}`;
    const { status, headers } = await visitor.get('/painel/entregas');
    expect([status, headers.get('location')]).toEqual([303, '/painel/entrar?motivo=fim&volta=%2Fpainel%2Fentregas']);
    expect(visitor.cookies.has('carteiro_painel')).toBe(false);
  });

  test('a part that htmx asks for is led to the sign-in as a whole page', async () => {
    const { status, headers } = await world.visitor().get('/painel/entregas', { 'HX-Request': 'true' });
    expect(status).toBe(200);
    expect(headers.get('hx-redirect')).toContain('/painel/entrar');
  });

  test('the sandbox makes a token at the push of a button, and no other place does', async () => {
    const visitor = world.visitor();
    expect((await visitor.get('/painel/entrar')).text).toContain('Entrar no sandbox');
    expect((await visitor.post('/painel/entrar/sandbox', {})).status).toBe(303);
    expect((await visitor.get('/painel/entregas')).status).toBe(200);

    const production = await startPainelWorld({ sandbox: null });
    const stranger = production.visitor();
    expect((await stranger.get('/painel/entrar')).text).not.toContain('sandbox');
    expect((await stranger.post('/painel/entrar/sandbox', {})).status).toBe(404);
  });

  test.each(['constructor', '__proto__', 'toString'])('the sign-in says nothing for the reason %s', async (reason) => {
    const { status, text } = await world.visitor().get(`/painel/entrar?motivo=${reason}`);
    expect([status, /native code|object Object|class="notice/.test(text)]).toEqual([200, false]);
  });

  test('outside of the sandbox the cookie goes over TLS alone, except to this very machine', async () => {
    const production = await startPainelWorld({ sandbox: null });
    const token = await production.api.token(await production.api.partner(), READER);
    const secure = await Promise.all(
      ['painel.example', '127.0.0.1:3000', 'localhost', '[::1]:80'].map((host) => signInAt(production, host, token)),
    );
    expect(secure).toEqual([true, false, false, false]);
  });

  test('a sandbox that is found behind https sends the cookie over TLS alone, too', async () => {
    const sandbox = await startPainelWorld({}, new URL('https://sandbox.example'));
    const token = await sandbox.api.token(await sandbox.api.partner(), READER);
    const secure = await Promise.all(['sandbox.example', 'localhost'].map((host) => signInAt(sandbox, host, token)));
    expect(secure).toEqual([true, false]);
    expect(await signInAt(world, 'sandbox.example', await world.api.token(await world.api.partner(), READER))).toBe(
      false,
    );
  });
});

describe('what changes something', () => {
  /** The page of a delivery, the form's token on it, and who may send it again. */
  async function resendable() {
    const partner = await world.subscriber();
    await partner.register();
    await partner.emit();
    const visitor = await world.signedIn(partner.id);
    const { text } = await visitor.get('/painel/entregas');
    const path = `/painel/entregas/${/\/painel\/entregas\/([\w-]{36})/.exec(text)?.[1] ?? ''}/reenvio`;
    return { partner, visitor, path, formulario: formTokenIn(text) };
  }

  const foreign = [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    {},
  ];
  test.each(foreign)('is refused when another page asks for it: %j', async (headers) => {
    const { visitor, path, formulario } = await resendable();
    const { status, text } = await visitor.post(path, { formulario }, headers);
    expect([status, text.includes('não veio desta página')]).toEqual([403, true]);
    expect((await world.visitor().post('/painel/entrar', { token: 'x' }, headers)).status).toBe(403);
  });

  test('needs the form token of this very session', async () => {
    const { partner, visitor, path, formulario } = await resendable();
    const other = await (await world.signedIn(partner.id, [...WRITER, 'margem:read'])).get('/painel/entregas');
    for (const token of ['', 'x', formTokenIn(other.text)]) {
      expect((await visitor.post(path, { formulario: token })).status).toBe(403);
    }
    expect((await visitor.post(path, { formulario })).status).toBe(303);
  });

  test('comes as a form, and a short one', async () => {
    const visitor = world.visitor();
    const own = { 'Sec-Fetch-Site': 'same-origin' };
    const { status } = await visitor.post('/painel/entrar', {}, { ...own, 'Content-Type': 'application/json' });
    expect(status).toBe(400);
    expect((await visitor.post('/painel/entrar', { token: 'x'.repeat(70_000) }, own)).status).toBe(413);
  });

  test('an origin of this host serves where a browser names no site, as without TLS', async () => {
    const token = await world.api.token(await world.api.partner(), READER);
    expect((await world.visitor().post('/painel/entrar', { token }, { Origin: world.server.url })).status).toBe(303);
  });
});

describe('every answer of the page', () => {
  test('has a policy that lets in nothing but this host’s own files', async () => {
    const visitor = await world.signedIn(await world.api.partner());
    for (const path of ['/painel/entrar', '/painel/entregas', '/painel/nada', '/painel/entregas/nada']) {
      const { headers, text } = await visitor.get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
          "base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:/i);
    }
  });

  test('its files are named by their bytes and kept for a year', async () => {
    const visitor = world.visitor();
    const { text } = await visitor.get('/painel/entrar');
    const paths = [...text.matchAll(/"(\/painel\/arquivos\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(paths.length).toBeGreaterThanOrEqual(4);
    for (const path of paths) {
      const { status, headers } = await visitor.get(path);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect((await visitor.get(path, { 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(304);
    }
    for (const name of ['page.css', '..%2fapp.ts', 'page.AAAA.css']) {
      expect((await visitor.get(`/painel/arquivos/${name}`)).status).toBe(404);
    }
  });

  test.each([
    ['en-US,en;q=0.9,pt-BR;q=0.8', 'en'],
    ['fr, PT;q=0.9, en;q=0.8', 'pt-BR'],
    ['fr-EN, x-en', 'pt-BR'],
    ['*', 'pt-BR'],
  ])('speaks to a browser that accepts %s in %s until a language is chosen', async (accepted, tag) => {
    const visitor = await world.signedIn(await world.api.partner());
    const asked = { 'Accept-Language': accepted };
    expect((await visitor.get('/painel/entregas', asked)).text).toContain(`<html lang="${tag}"`);
    await visitor.post('/painel/preferencias', { idioma: 'pt', volta: '/painel' });
    expect((await visitor.get('/painel/entregas', asked)).text).toContain('<html lang="pt-BR"');
  });

  test('speaks the language that was chosen, and keeps the theme', async () => {
    const visitor = await world.signedIn(await world.api.partner());
    expect((await visitor.get('/painel/entregas')).text).toMatch(/<html lang="pt-BR" data-theme="auto">/);
    const chosen = { idioma: 'en', tema: 'escuro', volta: '/painel/entregas' };
    expect((await visitor.post('/painel/preferencias', chosen)).headers.get('location')).toBe('/painel/entregas');
    const { text } = await visitor.get('/painel/entregas');
    expect(text).toMatch(/<html lang="en" data-theme="escuro">/);
    expect(text).toContain('Deliveries');
    expect((await visitor.get('/painel/entregas?status_http=abc')).text).toContain(
      'must be an HTTP status from 100 to 599',
    );
  });

  test('a fault of ours shows its number and nothing else, and the log no token', async () => {
    const broken = await startPainelWorld({
      vault: {
        keyId: '00000000',
        encrypt: () => Buffer.alloc(0),
        decrypt: () => {
          throw new Error('secret whsec_leak');
        },
      },
    });
    const partnerId = await broken.api.partner();
    await broken.api.database.sql`
      insert into webhooks (id, partner_id, url, events, encrypted_secret)
      values (uuidv7(), ${partnerId}, 'http://127.0.0.1:9/x', '{desembolso.falhou}', 'x')`;
    const visitor = await broken.signedIn(partnerId);
    const { status, text } = await visitor.get('/painel/entregas/01a20695-2722-7d59-8fa9-fac65cb65709');
    expect(status).toBe(404);
    expect(text).not.toMatch(/whsec_leak|at \//);
    const lines = JSON.stringify(broken.api.lines);
    expect(lines).not.toContain(visitor.cookies.get('carteiro_painel'));
    expect(lines).not.toContain('whsec_leak');
    expect(broken.api.lines.map(({ fields }) => fields['route'])).toContain('/painel/entregas/:id');
  });
});
