import { describe, expect, it } from 'vitest';
import { accountIdOf } from '../../../../src/features/accounts/accounts/account.ts';
import { DEVELOPER_KEYS_MAX } from '../../../../src/features/accounts/developer-keys/developer-key-list.ts';
import { createDeveloperKeyVerifier } from '../../../../src/features/accounts/developer-keys/developer-key-verifier.ts';
import {
  createDeveloperKey,
  listDeveloperKeys,
  revokeDeveloperKey,
} from '../../../../src/features/accounts/developer-keys/developer-keys.ts';
import { eraseAccount } from '../../../../src/features/accounts/erase-account.ts';
import { lockAccount, unlockAccount } from '../../../../src/features/accounts/lock-account.ts';
import type { AppendDeps } from '../../../../src/store/sequence/append.ts';
import { DAY, dump, EMAIL, keysOf, register, setUp, silentLog } from '../support.ts';

const ID = accountIdOf('embedded', EMAIL);
const SCOPES = [{ application: 'desktop', access: 'read' as const }];
const REMEMBERED_MS = 30_000;

function verifierOf(deps: AppendDeps) {
  return createDeveloperKeyVerifier({ ...deps, log: silentLog });
}

async function withKey(life = 90 * DAY) {
  const deps = setUp();
  await register(deps);
  const expiresAt = new Date(deps.clock.now() + life);
  const created = await createDeveloperKey(deps, ID, { name: 'CI', scopes: SCOPES, expiresAt });
  return { deps, created, ...deps };
}

const REFUSED = { name: 'AppError', code: 'not_signed_in' };

/** The verifier notes a use without waiting for the store. */
const settle = () => new Promise(setImmediate);

describe('a developer key', () => {
  it('is shown once and not stored', async () => {
    const { deps, created, store } = await withKey();
    expect(created.key).toMatch(/^slk_[0-9a-f]{32}_[0-9a-f]{16}_[\w-]{43}$/);
    const secret = created.key.slice(-43);
    await verifierOf(deps).verify(created.key);
    await settle();
    const stored = await dump(store);
    for (const form of [
      secret,
      Buffer.from(secret, 'base64url').toString('hex'),
      Buffer.from(secret, 'base64url').toString('base64'),
    ]) {
      expect(stored).not.toContain(form);
    }
    const [listed] = await listDeveloperKeys(store, ID);
    expect(JSON.stringify(listed)).not.toContain(secret);
    expect(listed).toMatchObject({ id: created.id, name: 'CI', scopes: SCOPES });
  });

  it('authenticates its account with its scopes', async () => {
    const { deps, created } = await withKey();
    expect(await verifierOf(deps).verify(created.key)).toMatchObject({
      account: { id: ID },
      scopes: SCOPES,
    });
  });

  it('with another secret, account or id, or in another spelling, is refused', async () => {
    const { deps, created, store } = await withKey();
    const eve = await register(deps, 'eve@example.org');
    const { verify, isDeveloperKey } = verifierOf(deps);
    const [, account = '', id = ''] = created.key.split('_');
    const secret = created.key.slice(-43);
    const other = `${secret[0] === 'A' ? 'B' : 'A'}${secret.slice(1)}`;
    for (const key of [
      `slk_${account}_${id}_${other}`,
      `slk_${eve.id}_${id}_${secret}`,
      `slk_${account}_${'0'.repeat(16)}_${secret}`,
    ]) {
      expect(isDeveloperKey(key)).toBe(true);
      await expect(verify(key)).rejects.toMatchObject(REFUSED);
    }
    store.forgetCalls();
    for (const key of [
      '',
      'slk_',
      `${created.key}=`,
      `${created.key}\n`,
      created.key.toUpperCase(),
      created.key.slice(0, -1),
      `slk_../../${id}_${secret}`,
      `slk_${account}_${id}/used_${secret}`,
      `slk_${'x'.repeat(1e6)}`,
    ]) {
      await expect(verify(key)).rejects.toMatchObject(REFUSED);
    }
    expect(store.total(), 'what is none by its looks costs no request').toBe(0);
  });

  it('is refused once it has expired, even where it is remembered', async () => {
    const { deps, created, clock } = await withKey(60_000);
    const { verify } = verifierOf(deps);
    clock.advance(60_000 - 1);
    await verify(created.key);
    clock.advance(1);
    await expect(verify(created.key)).rejects.toMatchObject(REFUSED);
    await expect(verifierOf(deps).verify(created.key)).rejects.toMatchObject(REFUSED);
  });

  it.each([
    ['revoked', (deps: AppendDeps, id: string) => revokeDeveloperKey(deps, ID, id)],
    ['its account locked', (deps: AppendDeps) => lockAccount(deps, ID, null)],
    ['its account erased', (deps: AppendDeps) => eraseAccount(deps, ID)],
  ])(
    '%s is refused at once by a new process, and within 30 seconds by one that remembers it',
    async (_, end) => {
      const { deps, created, clock } = await withKey();
      const elsewhere = verifierOf(deps);
      await elsewhere.verify(created.key);
      await end(deps, created.id);
      await expect(verifierOf(deps).verify(created.key)).rejects.toMatchObject(REFUSED);
      clock.advance(REMEMBERED_MS + 1);
      await expect(elsewhere.verify(created.key)).rejects.toMatchObject(REFUSED);
    },
  );

  it('works again when its account is unlocked', async () => {
    const { deps, created } = await withKey();
    await lockAccount(deps, ID, null);
    await unlockAccount(deps, ID);
    await verifierOf(deps).verify(created.key);
  });

  it('is read from the store once in 30 seconds', async () => {
    const { deps, created, store, clock } = await withKey();
    const { verify } = verifierOf(deps);
    await verify(created.key);
    await settle();
    store.forgetCalls();
    for (let time = 0; time < 100; time++) await verify(created.key);
    expect(store.total()).toBe(0);
    clock.advance(REMEMBERED_MS + 1);
    await verify(created.key);
    expect(store.counts.get + store.counts.head).toBeGreaterThan(0);
    expect(store.counts.list).toBe(0);
  });

  it('has its use noted once for each day and process', async () => {
    const { deps, created, store, clock } = await withKey();
    const { verify } = verifierOf(deps);
    expect((await listDeveloperKeys(store, ID))[0]?.lastUsedOn).toBeNull();
    for (const day of ['2026-11-21', '2026-11-22', '2026-11-23']) {
      for (let time = 0; time < 5; time++) {
        await verify(created.key);
        await settle();
        clock.advance(REMEMBERED_MS + 1);
      }
      expect((await listDeveloperKeys(store, ID))[0]?.lastUsedOn).toBe(day);
      clock.advance(DAY);
    }
    const uses = (await keysOf(store)).filter((key) => key.includes('/used/'));
    expect(uses).toHaveLength(3);
    store.forgetCalls();
    await verifierOf(deps).verify(created.key);
    await settle();
    expect(store.counts.create, 'another process tries once').toBe(1);
  });

  it('works while its use cannot be noted, and not while the store does not answer', async () => {
    const { deps, created, store } = await withKey();
    const { verify } = verifierOf(deps);
    store.setPlan(({ method }) => (method === 'create' ? { when: 'before' } : undefined));
    await verify(created.key);
    await settle();
    store.setPlan(undefined);
    await verify(created.key);
    await settle();
    expect((await listDeveloperKeys(store, ID))[0]?.lastUsedOn).toBe('2026-11-21');
    store.goDown();
    await expect(verifierOf(deps).verify(created.key)).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });

  it('whose document is corrupt is refused', async () => {
    const { deps, created, store } = await withKey();
    const key = `developer-keys/${ID}/${created.id}/1.json`;
    await store.delete(key);
    await store.create(key, Buffer.from('{}'));
    await expect(verifierOf(deps).verify(created.key)).rejects.toMatchObject(REFUSED);
  });
});

describe('the developer keys of an account', () => {
  it('are 20 at most, however many are created concurrently', async () => {
    const deps = setUp();
    await register(deps);
    const { store, clock } = deps;
    const request = { name: 'CI', scopes: SCOPES, expiresAt: new Date(clock.now() + DAY) };
    const made = await Promise.allSettled(
      Array.from({ length: 60 }, () => createDeveloperKey(setUp(store), ID, request)),
    );
    const keys = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.key] : []));
    const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(new Set(refused)).toEqual(new Set(['limit_reached']));
    expect(keys).toHaveLength(20);
    expect(await listDeveloperKeys(store, ID)).toHaveLength(20);
    const { verify } = verifierOf(deps);
    for (const key of keys) await verify(key);
  });
});

describe('the developer keys of an account', () => {
  it('are 20 at most; revoking one makes room for another', async () => {
    const { deps, store, clock } = await withKey();
    const request = { name: 'CI', scopes: SCOPES, expiresAt: new Date(clock.now() + DAY) };
    for (let count = 1; count < DEVELOPER_KEYS_MAX; count++) {
      await createDeveloperKey(deps, ID, request);
    }
    expect(await listDeveloperKeys(store, ID)).toHaveLength(20);
    await expect(createDeveloperKey(deps, ID, request)).rejects.toMatchObject({
      code: 'limit_reached',
    });
    const [first] = await listDeveloperKeys(store, ID);
    await revokeDeveloperKey(deps, ID, first?.id ?? '');
    await createDeveloperKey(deps, ID, request);
    expect(await listDeveloperKeys(store, ID)).toHaveLength(20);
  });

  it('are revoked by their own account only, and once', async () => {
    const { deps, created, store } = await withKey();
    const eve = await register(deps, 'eve@example.org');
    expect(await listDeveloperKeys(store, eve.id)).toEqual([]);
    for (const id of [
      created.id,
      `../${ID}/${created.id}`,
      `..%2F${ID}%2F${created.id}`,
      `${created.id}/used`,
      '',
      '.',
      '\0',
      'x'.repeat(2000),
    ]) {
      await expect(revokeDeveloperKey(deps, eve.id, id)).rejects.toMatchObject({
        code: expect.stringMatching(/unknown_key|invalid_key/),
      });
    }
    await verifierOf(deps).verify(created.key);
    await revokeDeveloperKey(deps, ID, created.id);
    await expect(revokeDeveloperKey(deps, ID, created.id)).rejects.toMatchObject({
      code: 'unknown_key',
    });
  });

  it('cannot be created with an access token of an erased account', async () => {
    const { deps, clock, store } = await withKey();
    const request = { name: 'left', scopes: SCOPES, expiresAt: new Date(clock.now() + DAY) };
    await lockAccount(deps, ID, null);
    await expect(createDeveloperKey(deps, ID, request)).rejects.toMatchObject(REFUSED);
    await unlockAccount(deps, ID);
    expect(await listDeveloperKeys(store, ID)).toHaveLength(1);
    await eraseAccount(deps, ID);
    await expect(createDeveloperKey(deps, ID, request)).rejects.toMatchObject(REFUSED);
    expect(await listDeveloperKeys(store, ID)).toEqual([]);
  });
});
