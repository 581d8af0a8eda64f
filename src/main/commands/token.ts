import { InvalidArgumentError } from 'commander';
import { isActor, MAX_ACTOR, type Scope, SCOPES } from '../../contract/statuses.ts';
import { readUuid } from '../arguments.ts';
import { command, option, optionOr, Refusal, required } from '../command.ts';

const SECONDS = { s: 1, m: 60, h: 3_600 } as const;

function readScopes(text: string): Scope[] {
  const scopes = text.split(/\s+/).filter((scope) => scope !== '');
  const unknown = scopes.filter((scope) => !SCOPES.some((known) => known === scope));
  if (scopes.length === 0 || unknown.length > 0) {
    throw new InvalidArgumentError(`Give one or more of: ${SCOPES.join(' ')}.`);
  }
  return scopes as Scope[];
}

function readTtl(text: string): number {
  const [, amount, unit] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('Give a number and a unit: 1s, 15m, 1h.');
  return Number(amount) * SECONDS[unit as keyof typeof SECONDS];
}

function readSubject(text: string): string {
  if (!isActor(text)) throw new InvalidArgumentError(`Give 1 to ${MAX_ACTOR} characters, none of control.`);
  return text;
}

export const token = command({
  summary: "print a token signed with the service's own key; only without JWT_JWKS_URL",
  options: {
    partner: option(
      '--partner <id>',
      "the partner it speaks for; an auditor's and the core's token have none",
      readUuid,
    ),
    scope: required('--scope <scopes>', `space-delimited, of: ${SCOPES.join(' ')}`, readScopes),
    sub: option(
      '--sub <name>',
      "who uses it, as histories name the author; the partner's id, or auditor, operador or nucleo, unless it is given",
      readSubject,
    ),
    ttl: optionOr('--ttl <time>', 'how long it is valid: 1s, 15m, 1h', readTtl, SECONDS.h, '1h'),
  },
  help: `
For trying things out: the key lies under DATA_DIR, and an API with the same folder accepts it. No database is asked, so
the partner may not exist; the API refuses such a token.

Output: the token alone`,
  exits: { done: 'the token was printed', refused: 'tokens come from the issuer of JWT_JWKS_URL', outOfReach: null },
  async run({ partner, scope, sub, ttl }, { configure, print }) {
    const { config } = configure('tokens');
    if (config.jwtJwksUrl !== null)
      throw new Refusal('JWT_JWKS_URL is set: tokens come from that issuer, not from here');
    const { openLocalKeys } = await import('../../http/auth/keys-local.ts');
    const { dataDir, jwtIssuer: issuer, jwtAudience: audience } = config;
    const keys = await openLocalKeys({ dataDir, issuer, audience });
    print(
      await keys.signToken({
        scopes: scope,
        ttlSeconds: ttl,
        subject: sub,
        ...(partner !== undefined && { partnerId: partner }),
      }),
    );
  },
});
