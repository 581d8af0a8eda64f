/**
 * How we identify ourselves to the registry, and whom we trust: bearer token, client certificate, private authority. The files are checked
 * before each call and read again after a change, so a rotation needs no restart.
 */
import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher } from 'undici';
import { MAX_ANSWER_BYTES } from '../contract/registry-wire.ts';
import { stampOf } from '../settings/file-stamps.ts';
import { isCertificate, NO_CERTIFICATE } from '../settings/pem.ts';
import type { RegistrySettings } from '../settings/outside-settings.ts';
import { RegistryFailure } from './port.ts';

interface Shown {
  /** The value of `Authorization`; null: not sent. */
  readonly authorization: string | null;
  readonly dispatcher: Dispatcher;
}

export class Credentials {
  readonly #settings: RegistrySettings;
  #stamp = '';
  #shown: Shown | null = null;
  #loading: Promise<Shown> | null = null;

  constructor(settings: RegistrySettings) {
    this.#settings = settings;
  }

  /** Throws {@link RegistryFailure} when a file cannot be read or used. */
  async current(): Promise<Shown> {
    const { tokenFile, certFile, keyFile, caFile } = this.#settings;
    const stamp = await stampOf([tokenFile, certFile, keyFile, caFile]).catch(refuse);
    if (this.#shown !== null && stamp === this.#stamp) return this.#shown;
    // Concurrent calls share one agent, and so one set of connections.
    this.#loading ??= this.#load(stamp).finally(() => (this.#loading = null));
    return this.#loading;
  }

  async #load(stamp: string): Promise<Shown> {
    const { token: own = null, tokenFile, certFile, keyFile, caFile, concurrency } = this.#settings;
    const [token, cert, key, ca] = await Promise.all([read(tokenFile), read(certFile), read(keyFile), read(caFile)]);
    if (ca !== null && !isCertificate(ca)) throw new RegistryFailure(`REGISTRY_CA_FILE ${NO_CERTIFICATE}`);
    if (cert !== null && !isCertificate(cert)) throw new RegistryFailure(`REGISTRY_CERT_FILE ${NO_CERTIFICATE}`);
    if (key === '') throw new RegistryFailure('REGISTRY_KEY_FILE is empty');
    const bearer = token === null ? own : tokenOf(token);
    const tls = { ...(cert && { cert }), ...(key && { key }), ...(ca && { ca }) };
    // Running calls end on the previous agent, whose idle connections close by themselves.
    this.#shown = {
      authorization: bearer === null ? null : `Bearer ${bearer}`,
      dispatcher: new Agent({ maxResponseSize: MAX_ANSWER_BYTES, connections: concurrency, connect: tls }),
    };
    this.#stamp = stamp;
    return this.#shown;
  }

  async close(): Promise<void> {
    await this.#shown?.dispatcher.destroy();
  }
}

async function read(file: string | null): Promise<string | null> {
  return file === null ? null : readFile(file, 'utf8').catch(refuse);
}

function refuse(error: NodeJS.ErrnoException): never {
  throw new RegistryFailure(
    `${error.path ?? 'a file of REGISTRY_…_FILE'} cannot be read (${error.code ?? error.name})`,
  );
}

function tokenOf(text: string): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new RegistryFailure('REGISTRY_TOKEN_FILE holds no token: one line of visible characters');
  return token;
}
