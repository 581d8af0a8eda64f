/** The simulated registry as tests ask it: through the adapter, over the loopback. */
import type { Pool } from '../../src/db/pool.ts';
import { type OpenRegistry, openRegistry } from '../../src/main/service/registry.ts';
import { behindGate, type GateOptions, RegistryGate } from '../../src/registry/gate.ts';
import type {
  EmploymentRegistry,
  RegistrationAnswer,
  RegistrationRegistry,
  RegistrationRequest,
} from '../../src/registry/port.ts';
import { REGISTRY_SETTINGS } from './registry-settings.ts';
import { endOf } from './ends.ts';
import { silentLog } from './silent-log.ts';

export async function startRegistry(pool: Pool): Promise<OpenRegistry> {
  const opened = await openRegistry({ bridge: REGISTRY_SETTINGS, sandbox: true }, pool, silentLog);
  if (opened === null) throw new Error('the sandbox has no registry');
  return { ...opened, close: endOf(opened.close) };
}

/** A registry whose every registration is answered by a script; it notes every reference. */
export function scriptedRegistry(
  answer: (request: RegistrationRequest) => ReturnType<RegistrationRegistry['register']>,
) {
  const asked: string[] = [];
  return {
    asked,
    register: (request: RegistrationRequest) => {
      asked.push(request.registrationId);
      return answer(request);
    },
    lookUp: async (): Promise<RegistrationAnswer | null> => null,
  };
}

const never = () => Promise.reject(new Error('this registry is not asked that'));

const NONE = { register: never, lookUp: never, queryMargin: never, endedBonds: neverPages, newBonds: neverPages };

/** What is scripted of a registry, behind a gate of its own. */
export function gated(
  registry: Partial<EmploymentRegistry>,
  { slots = 32, timeoutMs = 10_000 }: Partial<Pick<GateOptions, 'slots' | 'timeoutMs'>> = {},
): EmploymentRegistry {
  return behindGate({ ...NONE, ...registry }, new RegistryGate({ slots, timeoutMs }));
}

/** A registry whose only slot somebody holds for as long as the test lasts. */
export function busy(registry: Partial<EmploymentRegistry>): EmploymentRegistry {
  const options = { slots: 1, timeoutMs: 600_000 };
  const gate = new RegistryGate(options);
  void gate.call(() => new Promise<never>(() => undefined)).catch(() => undefined);
  options.timeoutMs = 20;
  return behindGate({ ...NONE, ...registry }, gate);
}

async function* neverPages(): AsyncGenerator<never> {
  yield await never();
}
