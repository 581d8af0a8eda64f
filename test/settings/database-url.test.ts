/** What a database's URL says, beside what libpq reads in it. */
import { describe, expect, it } from 'vitest';
import { type DatabasePlace, readDatabaseUrl } from '../../src/settings/database-url.ts';

const placeOf = (url: string): DatabasePlace => {
  const read = readDatabaseUrl(url);
  if ('fault' in read) throw new Error(read.fault);
  return read;
};
const faultOf = (url: string) => {
  const read = readDatabaseUrl(url);
  return 'fault' in read ? read.fault : null;
};

describe("a database's URL", () => {
  it.each([
    ['postgres://db/core', [{ name: 'db', port: 5432 }]],
    ['postgresql://u:p@db:6432/core', [{ name: 'db', port: 6432 }]],
    ['postgres://u:p@[::1]:20001/core', [{ name: '::1', port: 20_001 }]],
    ['postgres://u:p@[2001:db8::7]/core', [{ name: '2001:db8::7', port: 5_432 }]],
    ['postgres://a:1,b,[::1]:2/core', [{ name: 'a', port: 1 }, { name: 'b', port: 5_432 }, { name: '::1', port: 2 }]],
    ['postgres://a,b/core?port=7', [{ name: 'a', port: 7 }, { name: 'b', port: 7 }]],
    ['postgres://elsewhere:1/core?host=here&port=2', [{ name: 'here', port: 2 }]],
    ['postgres:///core?host=/var/run/postgresql', [{ name: '/var/run/postgresql', port: 5_432 }]],
    ['postgres://u@%2Frun%2Fpg:7/core', [{ name: '/run/pg', port: 7 }]],
    ['postgres:///core?host=a,b&port=1,2', [{ name: 'a', port: 1 }, { name: 'b', port: 2 }]],
  ])('%s has its hosts', (url, hosts) => {
    expect(placeOf(url).hosts).toEqual(hosts);
  }); // prettier-ignore

  it('lets a parameter win over what stands before it, and takes a plus as it is', () => {
    expect(placeOf('postgres://one:two@db/three?user=u&password=a+b%2Fc&dbname=d')).toMatchObject({
      user: 'u',
      password: 'a+b/c',
      database: 'd',
    });
    expect(placeOf('postgres://u:p%40:x@db/').password).toBe('p@:x');
    expect(placeOf('postgres://db')).toMatchObject({ user: null, password: null, database: null, wanted: 'any' });
  });

  it.each([
    ['mysql://db/core', 'must be a postgres:// URL'],
    ['postgres://db/co re', 'must be a postgres:// URL'],
    ['postgres:///core', 'names no host: the folder of a Unix socket is ?host=/var/run/postgresql'],
    ['postgres://a,,b/core', 'names no host: the folder of a Unix socket is ?host=/var/run/postgresql'],
    ['postgres://a,b,c/core?port=1,2', 'port in it must be one number, or one for each host'],
    ['postgres://db:x/core', 'port in it must be one number, or one for each host'],
    ['postgres://db:65536/core', 'port in it must be from 1 to 65535'],
    ['postgres://a,b/core?port=5432,0', 'port in it must be from 1 to 65535'],
    ['postgres://db/core?hostaddr=10.0.0.1', 'hostaddr in it is not obeyed here: take it out'],
    ['postgres://db/core?search_path=public', 'search_path in it is not obeyed here: take it out'],
    ['postgres://db/core?statement_timeout=1', 'statement_timeout in it is not obeyed here: take it out'],
    ['postgres://db/core?__proto__=1', '__proto__ in it is not obeyed here: take it out'],
    ['postgres://db/core?target_session_attrs=master', 'target_session_attrs in it must be one of any, read-write, read-only, primary, standby, prefer-standby'],
    ['postgres://db/core?channel_binding=require', 'channel_binding in it cannot be "require": take it out, and let sslmode=verify-full show who the server is'],
    ['postgres://db/core?gssencmode=require', 'gssencmode in it must be one of disable, prefer'],
    ['postgres://db/core?sslcert=/a', 'sslcert and sslkey in it need each other'],
    ['postgres://user:ab?cdEF12==@db/core', 'has a ? or & that begins no parameter: in a user or a password write %3F and %26'],
    ['postgres://db/core?password=%', 'has a % that begins no character: write %25 for it'],
  ])('%s is refused, by name and without its values', (url, fault) => {
    expect(faultOf(url)).toBe(fault);
  }); // prettier-ignore

  it('takes what asks for nothing but what is done', () => {
    const url = 'postgres://db/core?channel_binding=prefer&gssencmode=disable&sslcompression=0&client_encoding=UTF8';
    expect(faultOf(url)).toBeNull();
  });
});
