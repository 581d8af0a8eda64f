/**
 * What `npm run test:long` runs, and `npm test` leaves out: mutants and the model's long walks, chaos, the bench, plans of large
 * tables, real gateways and frameworks, images and units, generated clients, alerts by promtool, PgBouncer, large partners, pollers that are killed, upgrades of a
 * database that is killed or written to meanwhile, a life under each setting of a role.
 */
export const LONG_TESTS = [
  'test/bench/**/*.test.ts',
  'test/chaos/**/*.test.ts',
  'test/model/{model.test,*.db.test}.ts',
  'test/**/*plans*.db.test.ts',
  'test/conformance/frameworks.db.test.ts',
  'test/core/bad-day.db.test.ts',
  'test/admin/bounds.db.test.ts',
  'test/http/{generated-clients,typed-client}.db.test.ts',
  'test/log/{core-pgbouncer,frameworks,go-live}.db.test.ts',
  'test/main/deploy/{compose,image,systemd}.db.test.ts',
  'test/main/{hostile-answers,moved-server,pgbouncer,point-in-time,reseal,admin-under-load,terminal,unfit-database}.db.test.ts',
  'test/main/operations/material.test.ts',
  'test/db/{change-capture,embedded-hosts,every-setting,killed-upgrade,others-servers,moved-database,running-system,upgraded-server}.db.test.ts',
  'test/delivery/poller/{hostile-poller,outage,processes,standstill}.db.test.ts',
  'test/delivery/queue/large-partner.db.test.ts',
  'test/delivery/sending/{gateways,hostile-receivers}.test.ts',
];
