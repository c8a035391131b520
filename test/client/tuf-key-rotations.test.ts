import { expect, it } from 'vitest';
import { MODULES_OF_KEYS, prepareCases, SUITE } from './tuf-conformance-cases.ts';
import {
  makeKey,
  type Scheme,
  type TestKey,
  type TopLevelRole,
  type TufRepository,
} from './tuf-repository.ts';

/** What the suite checks of keys, signatures and thresholds, and of their rotation. */

const { addCase, names } = prepareCases();

addCase('test_snapshot_does_not_meet_threshold', async ({ repository, client }) => {
  repository.root.roles.snapshot.threshold = 3;
  repository.addKey('snapshot');
  repository.addKey('snapshot');
  repository.publish('root', 'targets', 'snapshot', 'timestamp');
  await client.refresh();
  repository.signers.snapshot.pop();
  repository.publish('targets', 'snapshot', 'timestamp');
  await expect(client.refresh()).rejects.toThrow('snapshot was signed by 2/3 keys');
  expect(client.trusted()).toEqual({ root: 2, timestamp: 3, snapshot: 2, targets: 2 });
});

addCase('test_snapshot_has_too_few_keys', async ({ repository, client }) => {
  for (let added = 0; added < 4; added++) repository.addKey('snapshot');
  repository.root.roles.snapshot.threshold = 6;
  repository.publish('root', 'snapshot', 'timestamp');
  await expect(client.refresh()).rejects.toThrow('snapshot was signed by 5/6 keys');
  expect(client.trusted()).toEqual({ root: 2, timestamp: 2 });
});

addCase('test_duplicate_keys', async ({ repository, client }) => {
  const key = repository.addKey('snapshot');
  for (let named = 1; named < 9; named++) repository.allowKey('snapshot', key);
  repository.root.roles.snapshot.threshold = 6;
  repository.publish('root', 'snapshot', 'timestamp');
  repository.tamper('snapshot', ({ signatures }) => {
    const [again] = signatures.filter(({ keyid }) => keyid === key.id);
    if (again === undefined) throw new Error('The key did not sign.');
    signatures.push(...Array(8).fill(again));
  });
  // The suite allows this, or that the client refuses the snapshot.
  await expect(client.refresh()).rejects.toThrow('duplicate key IDs found');
  expect(client.trusted()).toEqual({ root: 1 });
});

addCase('test_duplicate_sig_keyids', async ({ repository, client }) => {
  repository.tamper('snapshot', ({ signatures }) => void signatures.push(...signatures));
  await expect(client.refresh()).rejects.toThrow('multiple signatures found for keyid');
  expect(client.trusted()).toEqual({ root: 1, timestamp: 1 });
});

for (const [type, scheme] of [
  ['rsa', 'rsassa-pss-sha256'],
  ['ecdsa', 'ecdsa-sha2-nistp256'],
  ['ed25519', 'ed25519'],
] as const satisfies [string, Scheme][]) {
  addCase(`test_keytype_and_scheme[${type}/${scheme}]`, async ({ repository, client }) => {
    const key = repository.addKey('root', makeKey(scheme));
    expect(key.json).toMatchObject({ keytype: type, scheme });
    repository.root.roles.root.threshold += 1;
    repository.publish('root');
    await client.refresh();
    expect(client.trusted().root).toBe(2);
    repository.publish('root');
    repository.tamper('root', ({ signatures }) => {
      const own = signatures.find(({ keyid }) => keyid === key.id);
      Object.assign(own ?? {}, { sig: key.sign(Buffer.from('another root')) });
    });
    await expect(client.refresh()).rejects.toThrow('root was signed by 1/2 keys');
    expect(client.trusted().root).toBe(2);
  });
}

addCase('test_invalid_sig_in_valid_metadata', async ({ repository, client }) => {
  const [key] = repository.signers.timestamp;
  const replaceSignature = (sig: string): void => {
    repository.tamper('timestamp', ({ signatures }) => {
      const own = signatures.filter(({ keyid }) => keyid === key?.id);
      expect([own.length, signatures.length]).toEqual([1, 2]);
      Object.assign(own[0] ?? {}, { sig });
    });
  };
  const { signatures } = JSON.parse(repository.newest('timestamp'));
  repository.addKey('timestamp');
  repository.publish('root', 'timestamp');
  replaceSignature(signatures[0].sig);
  await client.refresh();
  expect(client.trusted().timestamp).toBe(2);
  repository.publish('timestamp');
  replaceSignature('');
  await client.refresh();
  expect(client.trusted().timestamp).toBe(3);
});

/** The keys of a role by their numbers, how many must sign, and the keys that sign. */
type Version = readonly [readonly number[], number, readonly number[], typeof REFUSED?];

const REFUSED = 'refused';
const TOO_FEW = /was signed by [0-4]\/[1-5] keys/;
const FIVE = [0, 1, 2, 3, 4];
const ONE_ROTATED = [0, 1, 3, 4, 5];
const OTHER_FIVE = [5, 6, 7, 8, 9];

/** The versions of a root, one after the other. Only the last one may be refused. */
const ROOTS: Readonly<Record<string, readonly Version[]>> = {
  '1-of-1-key-rotation': [
    [[1], 1, [1]],
    [[2], 1, [2, 1]],
    [[2], 1, [2]],
  ],
  '1-of-1-key-rotation-unused-signatures': [
    [[1], 1, [3, 1, 4]],
    [[2], 1, [3, 2, 1, 4]],
    [[2], 1, [3, 2, 4]],
  ],
  '3-of-5-sign-with-different-keycombos': [
    [FIVE, 3, [0, 2, 4]],
    [FIVE, 3, [0, 4, 1]],
    [FIVE, 3, [0, 1, 3]],
    [FIVE, 3, [0, 1, 3]],
  ],
  '3-of-5-one-key-rotated': [
    [FIVE, 3, [0, 2, 4]],
    [ONE_ROTATED, 3, [0, 4, 1]],
  ],
  '3-of-5-one-key-rotated-with-intermediate-step': [
    [FIVE, 3, [0, 2, 4]],
    [ONE_ROTATED, 3, [0, 2, 4, 5]],
    [ONE_ROTATED, 3, [0, 4, 5]],
  ],
  '3-of-5-all-keys-rotated-with-intermediate-step': [
    [FIVE, 3, [0, 2, 4]],
    [OTHER_FIVE, 3, [0, 2, 4, 5, 6, 7]],
    [OTHER_FIVE, 3, [5, 6, 7]],
  ],
  '1-of-3-threshold-increase-to-2-of-3': [
    [[1, 2, 3], 1, [1]],
    [[1, 2, 3], 2, [1, 2]],
  ],
  '2-of-3-threshold-decrease-to-1-of-3': [
    [[1, 2, 3], 2, [1, 2]],
    [[1, 2, 3], 1, [1, 2]],
    [[1, 2, 3], 1, [1]],
  ],
  '1-of-2-threshold-increase-to-2-of-2': [
    [[1], 1, [1]],
    [[1, 2], 2, [1, 2]],
  ],
  '1-of-1-key-rotation-fail-not-signed-with-old-key': [
    [[1], 1, [1]],
    [[2], 1, [2, 3, 4], REFUSED],
  ],
  '1-of-1-key-rotation-fail-not-signed-with-new-key': [
    [[1], 1, [1]],
    [[2], 1, [1, 3, 4], REFUSED],
  ],
  '3-of-5-one-key-rotate-fails-not-signed-with-3-new-keys': [
    [FIVE, 3, [0, 2, 4]],
    [ONE_ROTATED, 3, [0, 2, 4], REFUSED],
  ],
  '3-of-5-one-key-rotate-fails-not-signed-with-3-old-keys': [
    [FIVE, 3, [0, 2, 4]],
    [ONE_ROTATED, 3, [0, 4, 5], REFUSED],
  ],
  '1-of-3-threshold-bump-to-2-of-3-fails-new-threshold-not-reached': [
    [[1, 2, 3], 1, [1]],
    [[1, 2, 3], 2, [2], REFUSED],
  ],
  '2-of-3-threshold-decr-to-1-of-3-fails-old-threshold-not-eached': [
    [[1, 2, 3], 2, [1, 2]],
    [[1, 2, 3], 1, [1], REFUSED],
  ],
};

for (const [id, versions] of Object.entries(ROOTS)) {
  addCase(`test_root_rotation[${id}]`, async ({ repository, client }) => {
    const keys = Array.from({ length: 10 }, () => makeKey());
    repository.rollBack('root');
    for (const version of versions) {
      giveKeys(repository, 'root', keys, version);
      repository.publish('root');
    }
    repository.publish('targets', 'snapshot', 'timestamp');
    const [first = '', ...later] = repository.published.root;
    client.install(first);
    const isRefused = versions.at(-1)?.includes(REFUSED);
    if (isRefused) await expect(client.refresh()).rejects.toThrow(TOO_FEW);
    else await client.refresh();
    expect(client.text('root')).toBe([first, ...later].at(isRefused ? -2 : -1));
  });
}

/** The second version of the keys of a role that is not the root. */
const OTHERS: Readonly<Record<string, Version>> = {
  '1-of-1-key-rotation': [[2], 1, [2]],
  '1-of-1-key-rotation-unused-signatures': [[1], 1, [3, 1, 4]],
  '1-of-1-key-rotation-fail-not-signed-with-new-key': [[2], 1, [1, 3, 4], REFUSED],
  '3-of-5-one-key-signature-wrong-not-signed-with-3-expected-keys': [
    ONE_ROTATED,
    3,
    [0, 2, 4],
    REFUSED,
  ],
  '2-of-5-one-key-signature-mising-threshold-not-reached': [ONE_ROTATED, 3, [0, 4], REFUSED],
  '3-of-5-sign-first-combo': [FIVE, 3, [0, 2, 4]],
  '3-of-5-sign-second-combo': [FIVE, 3, [0, 4, 1]],
  '3-of-5-sign-third-combo': [FIVE, 3, [0, 1, 3]],
  '3-of-5-sign-fourth-combo': [FIVE, 3, [1, 2, 3]],
  '3-of-5-sign-fifth-combo': [FIVE, 3, [2, 3, 4]],
};

for (const [id, version] of Object.entries(OTHERS)) {
  addCase(`test_non_root_rotations[${id}]`, async ({ repository, client }) => {
    const keys = Array.from({ length: 10 }, () => makeKey());
    for (const role of ['timestamp', 'snapshot', 'targets'] as const) {
      giveKeys(repository, role, keys, version);
      repository.publish('root', 'targets', 'snapshot', 'timestamp');
      if (version.includes(REFUSED)) {
        await expect(client.refresh()).rejects.toThrow(TOO_FEW);
        expect(client.trusted()[role]).toBeUndefined();
      } else {
        await client.refresh();
        expect(client.text(role)).toBe(repository.newest(role));
      }
    }
  });
}

/** Replaces the keys of a role. */
function giveKeys(
  repository: TufRepository,
  role: TopLevelRole,
  all: readonly TestKey[],
  [keys, threshold, signing]: Version,
): void {
  const numbered = (numbers: readonly number[]) => numbers.flatMap((at) => all.slice(at, at + 1));
  repository.revokeKeys(role);
  repository.root.roles[role].threshold = threshold;
  for (const key of numbered(keys)) repository.allowKey(role, key);
  repository.signers[role] = numbered(signing);
}

it('has every case of the suite that is about keys', () => {
  const complete = MODULES_OF_KEYS.flatMap((name) => SUITE[name] ?? []);
  expect([...names].sort()).toEqual([...complete].sort());
});
