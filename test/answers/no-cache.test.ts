import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ADDRESS_LENGTH_MAX, withoutNoCache, withoutPersonal } from '../../src/answers/no-cache.ts';

describe('an address without noCache', () => {
  it.each([
    ['/latest.yml?noCache=1jq8', '/latest.yml'],
    ['/latest.yml?noCache=', '/latest.yml'],
    ['/latest.yml?a=1&noCache=2&b=3&noCache=4', '/latest.yml?a=1&b=3'],
    ['/latest.yml', '/latest.yml'],
    ['/latest.yml?', '/latest.yml?'],
    ['/noCache=1/latest.yml', '/noCache=1/latest.yml'],
    ['/latest.yml?nocache=1', '/latest.yml?nocache=1'],
    ['/latest.yml?noCache', '/latest.yml?noCache'],
    ['/latest.yml?%6eoCache=1', '/latest.yml?%6eoCache=1'],
    ['/latest.yml?a=noCache=1', '/latest.yml?a=noCache=1'],
    ['/latest.yml#?noCache=1', '/latest.yml#?noCache=1'],
  ])('%s becomes %s', (address, expected) => {
    expect(withoutNoCache(address)).toBe(expected);
  });

  it('has no id of an installation either, for routes that read no other', () => {
    const address = '/a?id=Acme&stagingId=1&noCache=2&installation_id=3&StagingId=4';
    expect(withoutPersonal(address)).toBe('/a?id=Acme&StagingId=4');
    expect(withoutNoCache(address)).toBe('/a?id=Acme&stagingId=1&installation_id=3&StagingId=4');
  });

  it('stays as it is when it is long', () => {
    const address = `/latest.yml?noCache=${'a'.repeat(ADDRESS_LENGTH_MAX)}`;
    expect(withoutNoCache(address)).toBe(address);
  });

  it('has the other parameters as they were, in their order', () => {
    const parameter = fc.stringMatching(/^[a-z%=+;.]{0,8}$/);
    const noCache = fc.stringMatching(/^noCache=[a-z0-9%]{0,6}$/);
    fc.assert(
      fc.property(fc.array(fc.oneof(parameter, noCache), { minLength: 1 }), (parameters) => {
        const others = parameters.filter((each) => !each.startsWith('noCache='));
        const expected = others.length === 0 ? '/a' : `/a?${others.join('&')}`;
        expect(withoutNoCache(`/a?${parameters.join('&')}`)).toBe(expected);
      }),
    );
  });
});
