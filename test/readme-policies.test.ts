import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  applicationsKey,
  artifactKey,
  carriedObject,
  clockKey,
  hintKey,
  manifestKey,
  revisionKey,
} from '../src/catalog/documents/keys.ts';
import { AppError } from '../src/core/errors.ts';
import { systemClock, systemRandomness } from '../src/core/system.ts';
import { invite } from '../src/features/accounts/accounts/invitations.ts';
import {
  accountKey,
  developerKeyKey,
  developerKeyListKey,
  invitationKey,
  lockoutKey,
  sessionKey,
} from '../src/features/accounts/keys.ts';
import { openKey, transitionKey } from '../src/features/contact/keys.ts';
import { promoteRelease } from '../src/releases/publish/promote-release.ts';
import { collectGarbage } from '../src/releases/verify/collect-garbage.ts';
import { verifyCatalog } from '../src/releases/verify/verify-catalog.ts';
import { changeStatus } from '../src/releases/withdraw/change-status.ts';
import { ensureConforming } from '../src/store/conformance-probe.ts';
import { createMemoryStore } from '../src/store/memory.ts';
import type { ObjectStore } from '../src/store/object-store.ts';
import { snapshotKey, totalKey } from '../src/usage/keys.ts';
import {
  ACCOUNT,
  ask,
  KEYS,
  newEmail,
  PASSWORD,
  refresh,
  register,
  signIn,
  UNLIMITED,
} from './features/accounts/routes/account-support.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from './support/release.ts';
import { allows, type Policy, readPolicies, type Statement } from './support/s3-policy.ts';
import { createTestService } from './support/service.ts';

/** The S3 policies of the documentation: enough for what each of them is for, and no more. */

const policies = readPolicies();
const policyOf = (heading: string): Policy => policies.get(heading) ?? [];
const bucketPolicy = policyOf('Nothing is overwritten');
const publisher = policyOf('A publisher');
const everyApplication = policyOf('Every application');
const garbage = policyOf('Cleaning up');

/** The conditions of the requests that create an object: in one request, and in parts. */
const CREATION = { 's3:ObjectCreationOperation': 'true', 's3:if-none-match': '*' };
const PART = { 's3:ObjectCreationOperation': 'false' };
const allowsObject = (policy: Policy, action: string, key: string, bucket = 'releases') =>
  [CREATION, PART].some((context) => allows(policy, { action, bucket, key, context }));

/** Refuses what a policy does not allow, as S3 would. */
function createPolicedStore(inner: ObjectStore, policy: Policy, bucket = 'releases'): ObjectStore {
  const need = (action: string, key = '', context = {}): void => {
    if (allows(policy, { action, bucket, key, context })) return;
    throw new AppError('store_denied', `${action} on ${bucket}/${key} is not allowed.`);
  };
  return {
    ...inner,
    create: async (key, ...rest) => {
      need('s3:PutObject', key, CREATION);
      return inner.create(key, ...rest);
    },
    upload: async (key, ...rest) => {
      for (const context of [CREATION, PART]) need('s3:PutObject', key, context);
      need('s3:AbortMultipartUpload', key);
      return inner.upload(key, ...rest);
    },
    get: async (key, ...rest) => {
      need('s3:GetObject', key);
      return inner.get(key, ...rest);
    },
    read: async (key, ...rest) => {
      need('s3:GetObject', key);
      return inner.read(key, ...rest);
    },
    head: async (key, ...rest) => {
      need('s3:GetObject', key);
      return inner.head(key, ...rest);
    },
    delete: async (key, ...rest) => {
      need('s3:DeleteObject', key);
      return inner.delete(key, ...rest);
    },
    async *list(...call) {
      need('s3:ListBucket');
      yield* inner.list(...call);
    },
    removeAbandonedUploads: async (...call) => {
      need('s3:ListBucketMultipartUploads');
      return inner.removeAbandonedUploads(...call);
    },
  };
}

const ID = 'a'.repeat(32);
/** A key of every kind that publishing is no business of. */
const PRIVATE_KEYS = [
  accountKey(ID, 1),
  sessionKey(ID, 'session', 1),
  developerKeyKey(ID, '0123456789abcdef'),
  developerKeyListKey(ID, 1),
  invitationKey({ account: ID, invitation: ID }),
  lockoutKey(ID, 1),
  transitionKey(ID, 1),
  openKey(ID, 1),
  snapshotKey('counter', 1),
  totalKey(1),
  'housekeeping/2026-11-21T09.json',
];
const PUBLIC_KEYS = [
  applicationsKey(1),
  hintKey(1),
  revisionKey('desktop', 1),
  manifestKey('desktop', '1.0.0', 1),
  artifactKey('desktop', `artifacts/${ID}/App.exe`),
  artifactKey('desktop', carriedObject('1.0.0', 1, 'latest.yml')),
];

describe('the S3 policies of the documentation', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
  });
  afterAll(() => directory.remove());

  it('are these', () => {
    expect([...policies.keys()]).toEqual([
      ...['Nothing is overwritten', 'With a private bucket', 'In one bucket'],
      ...['A publisher', 'Every application', 'Cleaning up'],
    ]);
  });

  it.each([...policies])('allow no object to be written without the condition: %s', (_, policy) => {
    const everything: Statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' };
    const tried = policy === bucketPolicy ? [...policy, everything] : policy;
    const created = [undefined, '"x"', '*, "x"', ' *', '**', ''];
    const keys = [...PRIVATE_KEYS, ...PUBLIC_KEYS, clockKey('x'), 'x'];
    for (const key of keys) {
      for (const bucket of ['releases', 'releases-private']) {
        for (const condition of policy === bucketPolicy && bucket !== 'releases' ? [] : created) {
          const header = condition === undefined ? {} : { 's3:if-none-match': condition };
          const context = { 's3:ObjectCreationOperation': 'true', ...header };
          const right = { action: 's3:PutObject', bucket, key, context };
          expect(allows(tried, right), `${key} ${condition}`).toBe(false);
        }
      }
    }
  });

  it('let the publisher of one application write to no other', () => {
    const others = PUBLIC_KEYS.map((key) => key.replace('apps/desktop/', 'apps/desktop2/'));
    const verdict = 'probe/verdicts/0123456789abcdef.json';
    for (const key of [...others.filter((name) => name.startsWith('apps/')), verdict]) {
      expect(allowsObject(publisher, 's3:PutObject', key), key).toBe(false);
    }
    expect(allowsObject(publisher, 's3:PutObject', applicationsKey(2))).toBe(false);
    for (const key of others.filter((name) => name.startsWith('apps/'))) {
      expect(allowsObject(publisher, 's3:GetObject', key), key).toBe(false);
    }
  });

  it('let an admin publish, and change nothing else', async () => {
    for (const policy of [publisher, everyApplication, garbage]) {
      for (const key of PRIVATE_KEYS) {
        for (const action of ['s3:GetObject', 's3:PutObject', 's3:DeleteObject']) {
          expect(allowsObject(policy, action, key), `${action} ${key}`).toBe(false);
        }
      }
      if (policy === garbage) continue;
      for (const key of PUBLIC_KEYS) {
        expect(allowsObject(policy, 's3:DeleteObject', key), key).toBe(false);
      }
    }
    const store = createPolicedStore(createMemoryStore({ clock: systemClock }), everyApplication);
    const parts = { store, clock: systemClock, randomness: systemRandomness };
    await ensureConforming(parts);
    const one = await makeArtifact(directory.path, { filename: 'One.exe', content: 'one' });
    const two = await makeArtifact(directory.path, { filename: 'Two.exe', content: 'two' });
    await publish(parts, { version: '1.0.0', artifacts: [one] });
    await publish(parts, { version: '1.1.0', artifacts: [two] });
    const writer = { ...parts, actor: 'test' };
    const promoted = { application: 'desktop', create: true, allowPrerelease: true };
    await promoteRelease(writer, { ...promoted, version: '1.1.0', to: 'beta' });
    const change = { application: 'desktop', channel: undefined, reason: null };
    for (const verb of ['pause', 'resume', 'yank', 'retire'] as const) {
      await changeStatus(writer, verb, { ...change, version: '1.1.0' });
    }
    const request = { application: undefined, deep: true };
    const { applications } = await verifyCatalog({ ...parts, onProgress: () => {} }, request);
    expect(applications.flatMap(({ problems }) => problems)).toEqual([]);
  });

  it('let gc remove files that no release names, with two additional permissions', async () => {
    const inner = createMemoryStore({ clock: systemClock });
    const orphan = artifactKey('desktop', `artifacts/${'0'.repeat(64)}/Old.exe`);
    const open = { store: inner, clock: systemClock, randomness: systemRandomness };
    const artifact = await makeArtifact(directory.path);
    await publish(open, { version: '1.0.0', artifacts: [artifact] });
    const signed = artifactKey('desktop', carriedObject('1.0.0', 1, 'latest.yml'));
    for (const key of [orphan, signed]) await inner.create(key, Buffer.from('old'));
    const collect = (policy: Policy) =>
      collectGarbage(
        { ...open, store: createPolicedStore(inner, policy) },
        { application: undefined, ageMinMs: 0 },
      );
    await expect(collect(everyApplication)).rejects.toMatchObject({ code: 'store_denied' });
    await wait(5);
    await collect([...publisher, ...garbage, ...bucketPolicy]);
    for (const key of [orphan, signed]) expect(await inner.head(key)).toBeUndefined();
    for (const key of [revisionKey('desktop', 1), manifestKey('desktop', '1.0.0', 1)]) {
      expect(allowsObject(garbage, 's3:DeleteObject', key), key).toBe(false);
    }
  });

  it.each([
    ['in one bucket', policyOf('In one bucket'), 'releases'],
    ['with a private bucket', policyOf('With a private bucket'), 'releases-private'],
  ] as const)('let the service work %s, and do not let it publish', async (_, policy, bucket) => {
    for (const key of PUBLIC_KEYS) {
      expect(allowsObject(policy, 's3:GetObject', key), key).toBe(true);
      for (const action of ['s3:PutObject', 's3:DeleteObject']) {
        expect(allowsObject(policy, action, key), `${action} ${key}`).toBe(false);
      }
    }
    for (const key of [...PRIVATE_KEYS, clockKey('x')]) {
      for (const action of ['s3:GetObject', 's3:PutObject', 's3:DeleteObject']) {
        expect(allowsObject(policy, action, key, bucket), `${action} ${key}`).toBe(true);
      }
    }
    // One store stands for either bucket: what is written must be allowed in the service's own.
    const inner = createMemoryStore({ clock: systemClock });
    const store = createPolicedStore(inner, policy, bucket);
    await ensureConforming({ store, clock: systemClock, randomness: systemRandomness });
    const tested = await createTestService({
      env: {
        ...UNLIMITED,
        CAPTCHA_PROVIDER: 'none',
        TIERS: '{"free":["developer_keys"]}',
      },
      store,
    });
    const person = await signIn(tested, { email: await register(tested) });
    await refresh(tested, person, person.refresh);
    const key = { name: 'CI', scopes: [{ application: 'desktop', access: 'read' }] };
    const made = await ask(tested, 'POST', KEYS, { bearer: person.access, body: key });
    const contact = { name: 'Ada', email: newEmail(), subject: 'Hello', message: 'Hello.' };
    const sent = await ask(tested, 'POST', '/api/v1/contact', { body: contact });
    const { code } = await invite(tested, newEmail(), 7);
    const erased = await ask(tested, 'DELETE', ACCOUNT, {
      bearer: person.access,
      body: { password: PASSWORD },
    });
    expect([made.status, sent.status, erased.status]).toEqual([201, 202, 204]);
    expect(code).toMatch(/^sli_/);
    await tested.close();
  });
});
