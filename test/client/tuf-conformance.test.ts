import { expect, it } from 'vitest';
import {
  LEFT_OUT,
  MODULES_OF_KEYS,
  passDays,
  prepareCases,
  SUITE,
} from './tuf-conformance-cases.ts';
import { inDays, makeKey, type TopLevelRole } from './tuf-repository.ts';

/** What the suite checks of the workflow of a client, of expiry, and of attempts to go back. */

const { addCase, names } = prepareCases();
const ALL_AT_1 = { root: 1, timestamp: 1, snapshot: 1, targets: 1 };
const ZEROS = { sha256: '0'.repeat(64) };
const REQUESTS = ['2.root.json', 'timestamp.json', '1.snapshot.json', '1.targets.json'];

addCase('test_basic_refresh_requests', async ({ repository, client }) => {
  await client.refresh();
  expect(repository.requests).toEqual(REQUESTS);
});

addCase('test_basic_refresh_trusted_data', async ({ repository, client }) => {
  await client.refresh();
  for (const role of ['root', 'timestamp', 'snapshot', 'targets'] as const) {
    expect(client.text(role)).toBe(repository.newest(role));
  }
});

addCase('test_invalid_initial_root', async ({ repository, client }) => {
  const root = JSON.parse(repository.newest('root'));
  delete root.signed.version;
  client.install(JSON.stringify(root));
  await expect(client.refresh()).rejects.toThrow('version is not defined');
  expect(repository.requests).toEqual([]);
});

addCase('test_unsigned_initial_root', async ({ repository, client }) => {
  const root = JSON.parse(repository.newest('root'));
  root.signatures[0].sig = makeKey().sign(Buffer.from('another root'));
  client.install(JSON.stringify(root));
  await expect(client.refresh()).rejects.toThrow('root was signed by 0/1 keys');
  expect(repository.requests).toEqual([]);
});

/** The roles that a client trusts when the second version of a role is refused. */
const TRUSTED_BEFORE = {
  root: { root: 1 },
  timestamp: { root: 2 },
  snapshot: { root: 2, timestamp: 2 },
  targets: { root: 2, timestamp: 2, snapshot: 2 },
} satisfies Record<TopLevelRole, object>;

for (const role of ['root', 'timestamp', 'snapshot', 'targets'] as const) {
  addCase(`test_unsigned_metadata[${role}]`, async ({ repository, client }) => {
    repository.signers[role].pop();
    repository.publish('root', 'targets', 'snapshot', 'timestamp');
    await expect(client.refresh()).rejects.toThrow(`${role} was signed by 0/1 keys`);
    expect(client.trusted()).toEqual(TRUSTED_BEFORE[role]);
  });
}

for (const [role, reason] of [
  ['root', 'Expected version 2, got 3'],
  // As in the suite, the address of version 3 has no file.
  ['snapshot', '3.snapshot.json answers 404'],
  ['targets', '3.targets.json answers 404'],
] as const) {
  addCase(`test_url_and_metadata_version_mismatch[${role}]`, async ({ repository, client }) => {
    repository[role].version += 1;
    repository.publish('root', 'targets', 'snapshot', 'timestamp');
    await expect(client.refresh()).rejects.toThrow(reason);
    expect(client.trusted()).toEqual(TRUSTED_BEFORE[role]);
  });
}

addCase('test_timestamp_content_changes', async ({ repository, client }) => {
  await client.refresh();
  repository.timestamp.meta['snapshot.json'] = { version: 100 };
  repository.rollBack('timestamp');
  repository.publish('timestamp');
  await client.refresh();
  expect(repository.requests.at(-1)).toBe('timestamp.json');
  const { meta } = JSON.parse(client.text('timestamp') ?? '').signed;
  expect(meta['snapshot.json'].version).toBe(1);
});

addCase('test_basic_metadata_hash_support', async ({ repository, client }) => {
  repository.statesDigests = true;
  repository.publish('targets', 'snapshot', 'timestamp');
  await client.refresh();
  expect(client.trusted()).toEqual({ root: 1, timestamp: 2, snapshot: 2, targets: 2 });
  expect(client.text('timestamp')).toContain('"sha256"');
});

addCase('test_targets_hash_mismatch', async ({ repository, client }) => {
  repository.statesDigests = true;
  repository.publish('targets', 'snapshot', 'timestamp');
  await client.refresh();
  repository.publish('targets');
  Object.assign(repository.snapshot.meta['targets.json'] ?? {}, { hashes: ZEROS });
  repository.publish('snapshot', 'timestamp');
  await expect(client.refresh()).rejects.toThrow(`Expected hash ${ZEROS.sha256}`);
  expect(client.trusted()).toEqual({ root: 1, timestamp: 3, snapshot: 3, targets: 2 });
});

addCase('test_snapshot_hash_mismatch', async ({ repository, client }) => {
  repository.statesDigests = true;
  repository.publish('snapshot', 'timestamp');
  await client.refresh();
  repository.publish('snapshot');
  Object.assign(repository.timestamp.meta['snapshot.json'] ?? {}, { hashes: ZEROS });
  repository.publish('timestamp');
  await expect(client.refresh()).rejects.toThrow(`Expected hash ${ZEROS.sha256}`);
  expect(client.trusted()).toEqual({ root: 1, timestamp: 3, snapshot: 2, targets: 1 });
});

addCase('test_metadata_bytes_match', async ({ repository, client }) => {
  const text = `${repository.newest('timestamp')} `;
  repository.published.timestamp = [text];
  await client.refresh();
  expect(client.text('timestamp')).toBe(text);
});

addCase('test_custom_fields', async ({ repository, client }) => {
  await client.refresh();
  repository.addKey('root', makeKey('ecdsa-sha2-nistp256', { 'extra-field': { a: 1, b: 2 } }));
  Object.assign(repository.root, { 'custom-field': 'value' });
  Object.assign(repository.root.roles.root, { 'another-field': 'value' });
  repository.publish('root');
  await client.refresh();
  expect(client.trusted()).toEqual({ ...ALL_AT_1, root: 2 });
  expect(client.text('root')).toMatch(/custom-field.*extra-field.*another-field/);
});

addCase('test_deprecated_keyid_hash_algorithms', async ({ repository, client }) => {
  repository.revokeKeys('snapshot');
  repository.addKey('snapshot', makeKey('ecdsa-sha2-nistp256', { keyid_hash_algorithms: 'md5' }));
  repository.publish('root', 'snapshot', 'timestamp');
  await client.refresh();
  expect(client.trusted()).toEqual({ root: 2, timestamp: 2, snapshot: 2, targets: 1 });
});

addCase('test_snapshot_404', async ({ repository, client }) => {
  await client.refresh();
  repository.timestamp.meta['snapshot.json'] = { version: 2 };
  repository.publish('timestamp');
  await expect(client.refresh()).rejects.toThrow('2.snapshot.json answers 404');
  expect(repository.requests.at(-1)).toBe('2.snapshot.json');
  expect(client.trusted()).toEqual({ ...ALL_AT_1, timestamp: 2 });
});

addCase('test_targets_404', async ({ repository, client }) => {
  await client.refresh();
  repository.snapshot.meta['targets.json'] = { version: 2 };
  repository.publish('snapshot', 'timestamp');
  await expect(client.refresh()).rejects.toThrow('2.targets.json answers 404');
  expect(repository.requests.at(-1)).toBe('2.targets.json');
  expect(client.trusted()).toEqual({ ...ALL_AT_1, timestamp: 2, snapshot: 2 });
});

addCase('test_timestamp_404', async ({ repository, client }) => {
  await client.refresh();
  repository.published.timestamp = [];
  await expect(client.refresh()).rejects.toThrow('timestamp.json answers 404');
  expect(repository.requests.at(-1)).toBe('timestamp.json');
});

addCase('test_incorrect_metadata_type', async ({ repository, client }) => {
  // Everything but its type lets this snapshot pass as a timestamp: keys, content, name.
  const [key] = repository.signers.timestamp;
  if (key === undefined) throw new Error('No key signs the timestamp.');
  repository.addKey('snapshot', key);
  repository.snapshot.meta = { 'snapshot.json': { version: 1 } };
  repository.publish('root', 'snapshot');
  repository.published.timestamp.push(repository.newest('snapshot'));
  repository.published.snapshot.pop();
  await expect(client.refresh()).rejects.toThrow("expected 'timestamp', got snapshot");
  expect(client.trusted()).toEqual({ root: 2 });
});

addCase('test_faketime', async ({ repository, client }) => {
  repository.root.expires = inDays(7);
  repository.publish('root');
  await client.refresh();
  passDays(8);
  await expect(client.refresh()).rejects.toThrow('root.json is expired');
});

addCase('test_root_expired', async ({ repository, client }) => {
  await client.refresh();
  repository.publish('root');
  await client.refresh();
  repository.root.expires = inDays(-1);
  repository.publish('root', 'targets', 'snapshot', 'timestamp');
  await expect(client.refresh()).rejects.toThrow('root.json is expired');
  expect(client.trusted()).toEqual({ ...ALL_AT_1, root: 3 });
});

addCase('test_timestamp_expired', async ({ repository, client }) => {
  await client.refresh();
  repository.timestamp.expires = inDays(-5);
  repository.publish('timestamp');
  await expect(client.refresh()).rejects.toThrow('timestamp.json is expired');
  expect(client.trusted()).toEqual(ALL_AT_1);
});

addCase('test_snapshot_expired', async ({ repository, client }) => {
  await client.refresh();
  repository.snapshot.expires = inDays(-5);
  repository.publish('snapshot', 'timestamp');
  await expect(client.refresh()).rejects.toThrow('snapshot.json is expired');
  expect(client.trusted()).toEqual({ ...ALL_AT_1, timestamp: 2 });
});

addCase('test_targets_expired', async ({ repository, client }) => {
  await client.refresh();
  repository.targets.expires = inDays(-5);
  repository.publish('targets', 'snapshot', 'timestamp');
  await expect(client.refresh()).rejects.toThrow('targets.json is expired');
  expect(client.trusted()).toEqual({ ...ALL_AT_1, timestamp: 2, snapshot: 2 });
});

addCase('test_expired_local_root', async ({ repository, client }) => {
  repository.root.expires = inDays(7);
  repository.publish('root');
  await client.refresh();
  repository.root.expires = inDays(21);
  repository.publish('root');
  passDays(18);
  await client.refresh();
  expect(client.trusted()).toEqual({ ...ALL_AT_1, root: 3 });
});

addCase('test_expired_local_timestamp', async ({ repository, client }) => {
  repository.timestamp.expires = inDays(7);
  repository.publish('timestamp');
  await client.refresh();
  repository.timestamp.expires = inDays(21);
  repository.publish('targets', 'snapshot', 'timestamp');
  passDays(18);
  await client.refresh();
  expect(client.trusted()).toEqual({ root: 1, timestamp: 3, snapshot: 2, targets: 2 });
});

addCase('test_new_timestamp_version_rollback', async ({ repository, client }) => {
  repository.publish('timestamp');
  await client.refresh();
  expect(client.trusted().timestamp).toBe(2);
  repository.rollBack('timestamp');
  repository.publish('timestamp');
  await expect(client.refresh()).rejects.toThrow('timestamp version 1 is less than current');
  expect(client.trusted().timestamp).toBe(2);
  expect(repository.requests.at(-1)).toBe('timestamp.json');
});

for (const [id, statesDigests] of [
  ['basic', false],
  ['with hashes', true],
] as const) {
  addCase(`test_snapshot_rollback[${id}]`, async ({ repository, client }) => {
    repository.statesDigests = statesDigests;
    repository.publish('snapshot', 'timestamp');
    await client.refresh();
    repository.rollBack('snapshot');
    repository.publish('snapshot', 'timestamp');
    await expect(client.refresh()).rejects.toThrow('snapshot version 1 is less than current');
    expect(client.trusted()).toEqual({ ...ALL_AT_1, timestamp: 2, snapshot: 2 });
    expect(repository.requests.at(-1)).toBe('timestamp.json');
  });

  addCase(`test_targets_rollback[${id}]`, async ({ repository, client }) => {
    repository.statesDigests = statesDigests;
    repository.publish('targets', 'snapshot', 'timestamp');
    await client.refresh();
    repository.rollBack('targets');
    repository.publish('targets', 'snapshot', 'timestamp');
    await expect(client.refresh()).rejects.toThrow('version 1 of targets.json is less');
    expect(client.trusted()).toMatchObject({ snapshot: 2, targets: 2 });
  });
}

addCase('test_targets_role_removal', async ({ repository, client }) => {
  repository.delegate();
  repository.publish('delegated', 'targets', 'snapshot', 'timestamp');
  await client.refresh();
  delete repository.snapshot.meta['delegated.json'];
  repository.publish('snapshot', 'timestamp');
  await expect(client.refresh()).rejects.toThrow('Missing file delegated.json');
  expect(client.trusted().snapshot).toBe(2);
});

addCase('test_targets_fast_forward_recovery', async ({ repository, client }) => {
  repository.delegate();
  repository.publish('delegated');
  repository.publish(...Array<'targets'>(99).fill('targets'), 'snapshot', 'timestamp');
  await client.refresh();
  expect(client.trusted().targets).toBe(100);
  repository.rotateKey('snapshot');
  repository.rollBack('targets');
  delete repository.snapshot.meta['delegated.json'];
  repository.publish('root', 'targets', 'snapshot', 'timestamp');
  await client.refresh();
  expect(client.trusted().targets).toBe(1);
});

addCase('test_new_snapshot_fast_forward_recovery', async ({ repository, client }) => {
  repository.publish(...Array<'snapshot'>(99).fill('snapshot'), 'timestamp');
  await client.refresh();
  expect(client.trusted().snapshot).toBe(100);
  repository.rotateKey('snapshot');
  repository.rotateKey('timestamp');
  repository.rollBack('snapshot');
  repository.publish('root', 'targets', 'snapshot', 'timestamp');
  await client.refresh();
  expect(client.trusted().snapshot).toBe(1);
});

addCase('test_new_timestamp_fast_forward_recovery', async ({ repository, client }) => {
  repository.publish(...Array<'timestamp'>(99).fill('timestamp'));
  await client.refresh();
  expect(client.trusted().timestamp).toBe(100);
  repository.rotateKey('timestamp');
  repository.rollBack('timestamp');
  repository.publish('root', 'timestamp');
  await client.refresh();
  expect(client.trusted().timestamp).toBe(1);
});

it('has every case of the suite, but those about keys and those left out', () => {
  const modules = Object.keys(SUITE).filter((name) => !MODULES_OF_KEYS.includes(name));
  const complete = modules.flatMap((name) => SUITE[name] ?? []);
  expect([...names, ...Object.keys(LEFT_OUT)].sort()).toEqual([...complete].sort());
});
