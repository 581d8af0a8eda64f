/** The registry of this installation: the one of the environment, the sandbox's simulated one, or none. */
import type { Config } from '../../config.ts';
import type { Pool } from '../../db/pool.ts';
import type { BondRegistry } from '../../registry/bonds-port.ts';
import type { MarginRegistry, RegistrationRegistry } from '../../registry/port.ts';

export const NO_REGISTRY_NOTE =
  'no registry is configured (REGISTRY_URL): margin queries, POST …/averbacao and sync-bonds are refused with 503 INDISPONIVEL';

/** Null: none is configured. Nothing simulated is loaded outside of the sandbox. */
export async function openRegistry(
  { sandbox }: Config,
  pool: Pool,
): Promise<(MarginRegistry & RegistrationRegistry & BondRegistry) | null> {
  if (!sandbox) return null;
  const { simulatedRegistry } = await import('../../registry/simulated.ts');
  const { simulatedBonds } = await import('../../registry/simulated-bonds.ts');
  return { ...simulatedRegistry(pool), ...simulatedBonds(pool) };
}
