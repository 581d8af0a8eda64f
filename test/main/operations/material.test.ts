/** Alerts, runbook and dashboard fit each other, and speak of metrics that there are. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { folderWith, isThere, run } from '../../support/snippets.ts';
import { metricsOfThePage } from './metric-table.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../src/main/operations');
const read = (file: string) => readFileSync(path.join(FOLDER, file), 'utf8');
const alerts = read('alerts.yml');
const alertNames = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '');
/** `up` is Prometheus's own, and the free space of a disk is node_exporter's. */
const known = new Set(['up', 'node_filesystem_avail_bytes', ...metricsOfThePage().map(({ name }) => name)]);

/** The runbook without what no alert leads to. */
const ofAlerts = () => read('runbook.md').split('# Without an alert')[0] ?? '';

/** Names of metrics in an expression; a histogram's parts count as the histogram. */
function metricsIn(expression: string): string[] {
  const named = expression.replaceAll(/"[^"]*"/g, '').match(/\bup\b|\b(?:carteiro|node|nodejs|process)_\w+/g) ?? [];
  return named.map((name) => (known.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')));
}

test('each alert has a section of the runbook, in their order, and each section its alert', () => {
  const sections = [...ofAlerts().matchAll(/^## (.+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual(alertNames);
  expect(new Set(alertNames).size).toBe(alertNames.length);
  const linked = [...alerts.matchAll(/runbook: 'runbook\.md#(\w+)'/g)].map(([, anchor]) => anchor);
  expect(linked).toEqual(alertNames.map((name) => name.toLowerCase()));
});

test('what wakes somebody up is what a person must do now; the rest waits for the morning', () => {
  const severities = [...alerts.matchAll(/- alert: (\w+)[\s\S]+?severity: (\w+)/g)].map(([, name, is]) => [name, is]);
  expect(severities.filter(([, is]) => is === 'page').map(([name]) => name)).toEqual([
    'CarteiroUnseen',
    'CarteiroDatabaseAway',
    'CarteiroDatabaseRefusesWrites',
    'CarteiroNoPoller',
    'CarteiroNoApi',
    'CarteiroDeliveriesLate',
    'CarteiroMostWebhooksFail',
    'CarteiroSendFaults',
    'CarteiroEventUnreadable',
    'CarteiroBalanceOpen',
    'CarteiroSealsBroken',
    'CarteiroClockSkewed',
    'CarteiroApiErrors',
  ]);
  expect(severities.filter(([, is]) => is !== 'page').every(([, is]) => is === 'ticket')).toBe(true);
});

test('each section says what it means, what to do, and what to tell the partner', () => {
  for (const section of ofAlerts().split(/^## /m).slice(1)) {
    expect(section).toMatch(/^\w+\n\n\*\*Means\.\*\* .+\n\n\*\*Do\.\*\* .+\n\n\*\*Tell the partner\.\*\* .+\n+$/);
  }
});

test('each alert has a test in which it fires and one in which it keeps quiet', () => {
  const names = [...read('alerts.test.yml').matchAll(/- name: (\w+ (?:fires|keeps quiet))$/gm)].map(([, name]) => name);
  expect(names).toEqual(alertNames.flatMap((name) => [`${name} fires`, `${name} keeps quiet`]));
});

const hasPromtool = await isThere(['promtool', '--version']);
if (!hasPromtool) process.stdout.write('promtool is not installed: the alert rules are not run\n');

test.skipIf(!hasPromtool)('promtool finds the rules sound, and each fires when it should', async () => {
  expect(await run(['promtool', 'check', 'rules', 'alerts.yml'], FOLDER)).toContain('SUCCESS');
  expect(await run(['promtool', 'test', 'rules', 'alerts.test.yml'], FOLDER)).toContain('SUCCESS');
});

test('the page makes a PrometheusRule of the rules, with a program in place of kubectl', async () => {
  const [, script = ''] = /```sh prometheus-rule\.sh\n([^`]+)```/.exec(read('README.md')) ?? [];
  const root = path.resolve(FOLDER, '../../..');
  const { kind, spec } = parse(await run(['sh', '-c', script.replace(/\| kubectl .*/, '')], root)) as {
    kind: string;
    spec: unknown;
  };
  expect([kind, spec]).toEqual(['PrometheusRule', parse(alerts)]);
});

test('the rules speak of metrics that there are', () => {
  const expressions = [...alerts.matchAll(/expr: >-\n\s+(.+)/g)].map(([, expression]) => expression ?? '');
  expect(expressions).toHaveLength(alertNames.length);
  for (const expression of expressions) {
    const named = metricsIn(expression);
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(known).toContain(name);
  }
});

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
}

describe('the dashboard', () => {
  const dashboard = JSON.parse(read('dashboard.json')) as Dashboard;
  const { panels } = dashboard;

  test('is one that Grafana takes: whole, with panels of their own ids and places', () => {
    expect([dashboard.uid, dashboard.title, dashboard.schemaVersion >= 36]).toEqual(['carteiro', 'Carteiro', true]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const cells = new Set<string>();
    for (const { gridPos, type, targets } of panels) {
      const { x, y, w, h } = gridPos;
      expect(x + w).toBeLessThanOrEqual(24);
      for (let column = x; column < x + w; column += 1) {
        for (let row = y; row < y + h; row += 1) {
          expect(cells).not.toContain(`${column}/${row}`);
          cells.add(`${column}/${row}`);
        }
      }
      expect(['stat', 'timeseries']).toContain(type);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
  });

  test('asks the Prometheus that is chosen, for metrics that there are', () => {
    expect(dashboard.templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }]);
    for (const { datasource, targets } of panels) {
      expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
      for (const { expr } of targets) {
        const named = metricsIn(expr);
        expect(named.length).toBeGreaterThan(0);
        for (const name of named) expect(known).toContain(name);
      }
    }
  });

  test.skipIf(!hasPromtool)('holds expressions that Prometheus can read', async () => {
    const rules = panels
      .flatMap(({ targets }) => targets)
      .map(({ expr }, index) => ({ record: `panel:${index}`, expr }));
    const text = JSON.stringify({ groups: [{ name: 'dashboard', rules }] }).replaceAll('$__rate_interval', '1m');
    const folder = await folderWith({ 'panels.yml': text });
    expect(await run(['promtool', 'check', 'rules', 'panels.yml'], folder.path)).toContain('SUCCESS');
  });
});
