/** The processes that the examples of deployment start, read out of their three formats. */
import { parse } from 'yaml';

export interface DeployedProcess {
  readonly where: 'compose' | 'kubernetes' | 'systemd';
  readonly command: string;
  readonly count: number;
  /** By name; null for one whose value is kept elsewhere. */
  readonly variables: Readonly<Record<string, string | null>>;
  readonly image: string | null;
  readonly graceS: number;
  readonly memory: string | null;
  readonly ports: readonly number[];
  readonly probes: readonly { readonly path: string; readonly port: number }[];
  /** Not root, a read-only root, no right and none to be had. */
  readonly isGuarded: boolean;
}

/** A document of YAML whose shape is not known. */
export type Example = Readonly<Record<string, unknown>>;

/** What lies at a path of keys, as the caller says it is. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a cast
function at<T>(value: unknown, ...keys: readonly (string | number)[]): T | undefined {
  return keys.reduce<unknown>(
    (inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key],
    value,
  ) as T;
}

export function readCompose(text: string): DeployedProcess[] {
  const { services } = parse(text, { merge: true }) as { services: Record<string, Example> };
  return Object.values(services).map((service) => {
    const variables = Object.entries(at<Record<string, string>>(service, 'environment') ?? {});
    return {
      where: 'compose',
      command: at<string[]>(service, 'command')?.join(' ') ?? '',
      count: at<number>(service, 'deploy', 'replicas') ?? 1,
      variables: Object.fromEntries(variables.map(([name, value]) => [name, value.startsWith('$') ? null : value])),
      image: at<string>(service, 'image') ?? null,
      graceS: Number.parseInt(at<string>(service, 'stop_grace_period') ?? '10', 10),
      memory: at<string>(service, 'mem_limit') ?? null,
      ports: [],
      probes: [],
      isGuarded:
        at(service, 'read_only') === true &&
        at<string[]>(service, 'cap_drop')?.join() === 'ALL' &&
        at<string[]>(service, 'security_opt')?.join() === 'no-new-privileges:true',
    };
  });
}

interface Variable {
  readonly name: string;
  readonly value?: string;
}

function variablesOf(container: unknown, objects: readonly Example[]): Record<string, string | null> {
  const from = (at<Example[]>(container, 'envFrom') ?? []).flatMap((source) => {
    const named = at<string>(source, 'configMapRef', 'name');
    const map = objects.find((object) => object['kind'] === 'ConfigMap' && at(object, 'metadata', 'name') === named);
    return Object.entries(at<Record<string, string>>(map, 'data') ?? {});
  });
  const own = (at<Variable[]>(container, 'env') ?? []).map((one) => {
    const { name: map, key } = at<{ name: string; key: string }>(one, 'valueFrom', 'configMapKeyRef') ?? {};
    const found = objects.find((object) => object['kind'] === 'ConfigMap' && at(object, 'metadata', 'name') === map);
    return [one.name, one.value ?? at<string>(found, 'data', key ?? '') ?? null] as const;
  });
  return Object.fromEntries([...from, ...own]);
}

function isGuarded(pod: unknown, container: unknown): boolean {
  return (
    at(pod, 'securityContext', 'runAsNonRoot') === true &&
    at<number>(pod, 'securityContext', 'runAsUser') === 1000 &&
    at(pod, 'securityContext', 'seccompProfile', 'type') === 'RuntimeDefault' &&
    at(pod, 'automountServiceAccountToken') === false &&
    at(container, 'securityContext', 'readOnlyRootFilesystem') === true &&
    at(container, 'securityContext', 'allowPrivilegeEscalation') === false &&
    at<string[]>(container, 'securityContext', 'capabilities', 'drop')?.join() === 'ALL' &&
    at(container, 'resources', 'requests', 'cpu') !== undefined &&
    at(container, 'resources', 'requests', 'memory') !== undefined
  );
}

export function readPods(objects: readonly Example[]): DeployedProcess[] {
  return objects.flatMap((object) => {
    const pod = at<Example>(object, 'spec', 'template', 'spec');
    if (pod === undefined) return [];
    return (at<Example[]>(pod, 'containers') ?? []).map((container): DeployedProcess => {
      const ports = at<{ name: string; containerPort: number }[]>(container, 'ports') ?? [];
      const probes = ['startupProbe', 'livenessProbe', 'readinessProbe']
        .map((name) => at<{ path: string; port: string }>(container, name, 'httpGet'))
        .filter((probe) => probe !== undefined);
      return {
        where: 'kubernetes',
        command: at<string[]>(container, 'args')?.join(' ') ?? '',
        count: at<number>(object, 'spec', 'replicas') ?? 1,
        variables: variablesOf(container, objects),
        image: at<string>(container, 'image') ?? null,
        graceS: at<number>(pod, 'terminationGracePeriodSeconds') ?? 30,
        memory: at<string>(container, 'resources', 'limits', 'memory') ?? null,
        ports: ports.map(({ containerPort }) => containerPort),
        probes: probes.map(({ path, port }) => ({
          path,
          port: ports.find(({ name }) => name === port)?.containerPort ?? Number.NaN,
        })),
        isGuarded: isGuarded(pod, container),
      };
    });
  });
}

/** What refers to something, or is referred to, in one object of Kubernetes. */
export function exampleOf(object: Example) {
  const container = at<Example>(object, 'spec', 'template', 'spec', 'containers', 0);
  const kind = String(object['kind']);
  const match = at<Record<string, string>>(object, 'spec', 'selector', 'matchLabels');
  const plain = at<Record<string, string>>(object, 'spec', 'selector');
  const ofPolicy = at<Record<string, string>>(object, 'spec', 'podSelector', 'matchLabels');
  return {
    kind,
    name: at<string>(object, 'metadata', 'name') ?? '',
    selector: match ?? ofPolicy ?? plain ?? null,
    podLabels: at<Record<string, string>>(object, 'spec', 'template', 'metadata', 'labels') ?? null,
    replicas: at<number>(object, 'spec', 'replicas') ?? 1,
    minAvailable: at<number>(object, 'spec', 'minAvailable') ?? null,
    secrets: [
      ...(at<Example[]>(container, 'env') ?? [])
        .map((one) => at<{ name: string; key: string }>(one, 'valueFrom', 'secretKeyRef'))
        .filter((reference) => reference !== undefined)
        .map(({ name, key }) => `${name}/${key}`),
      ...(at<Example[]>(object, 'spec', 'template', 'spec', 'volumes') ?? []).flatMap((volume) =>
        (at<{ key: string }[]>(volume, 'secret', 'items') ?? []).map(
          ({ key }) => `${at<string>(volume, 'secret', 'secretName')}/${key}`,
        ),
      ),
    ],
  };
}

/** What a unit's environment file holds, by the page: the database's URL, and what its command needs beside it. */
const IN_FILE: Readonly<Record<string, readonly string[]>> = {
  migrate: ['DATABASE_URL'],
  poll: ['DATABASE_URL', 'SECRETS_KEY'],
  api: ['DATABASE_URL', 'SECRETS_KEY', 'JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_JWKS_URL', 'ANCHOR_DIRECTORY'],
};

export function readUnits(units: readonly (readonly [file: string, text: string])[]): DeployedProcess[] {
  return units.map(([, text]) => {
    const settings = new Map([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
    const command = /src\/main\.ts (\S+)$/.exec(settings.get('ExecStart') ?? '')?.[1] ?? '';
    const set = (settings.get('Environment') ?? '').split(' ').map((pair) => pair.split('=') as [string, string]);
    const file = settings.get('EnvironmentFile') === `/etc/carteiro/${command}.env` ? (IN_FILE[command] ?? []) : [];
    return {
      where: 'systemd',
      command,
      count: 1,
      variables: Object.fromEntries([
        ...set.map(([name, value]) => [name, value.replace('%i', '4000')] as const),
        ...file.map((name) => [name, null] as const),
      ]),
      image: null,
      graceS: Number(settings.get('TimeoutStopSec') ?? 90),
      memory: settings.get('MemoryMax') ?? null,
      ports: [],
      probes: [],
      isGuarded:
        settings.get('User') === 'carteiro' &&
        settings.get('ProtectSystem') === 'strict' &&
        settings.get('NoNewPrivileges') === 'yes' &&
        settings.get('CapabilityBoundingSet') === '',
    };
  });
}
