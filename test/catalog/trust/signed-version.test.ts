import { beforeEach, expect, it } from 'vitest';
import { manifestKey, revisionKey } from '../../../src/catalog/documents/keys.ts';
import { signRevision } from '../../../src/catalog/trust/revision-signature.ts';
import { digestOf } from '../../../src/store/sequence/envelope.ts';
import { listKeys, readText } from '../../support/objects.ts';
import { offered, problemsOf, type World } from '../live/live-catalog.ts';
import { ci, k1, look, OPERATORS_DECIDE, useTrustedWorld } from './trusted-world.ts';

/**
 * A publisher that knows an older form commits nothing to a signed store: it would commit an unsigned revision. Signed
 * revisions have a schema version of their own.
 */

const trusted = await useTrustedWorld();
let world: World;

beforeEach(() => {
  world = trusted.begin();
});

const versionOf = async (key: string): Promise<number> =>
  JSON.parse(String(await readText(world.memory, key))).signed.schema_version;

it('only signed revisions have schema version 2', async () => {
  await trusted.publishUnsigned('desktop', '1.0.0');
  await trusted.init({ ...OPERATORS_DECIDE, firstRevision: 2 }, k1, ci);
  await trusted.publishTo('stable', '1.1.0', ci);
  const revisions = await listKeys(world.memory, 'apps/desktop/catalog/');
  expect(await Promise.all(revisions.map(versionOf))).toEqual([1, 2, 2]);
  const others = (await listKeys(world.memory, '')).filter((key) =>
    /^(applications|changes)\/|\/manifest\//.test(key),
  );
  expect(others.length).toBeGreaterThan(4);
  expect(new Set(await Promise.all(others.map(versionOf)))).toEqual(new Set([1]));
});

it('a revision one version above what the process knows stops publishers, and services keep their state', async () => {
  await trusted.init(OPERATORS_DECIDE, k1, ci);
  await trusted.publishTo('stable', '1.0.0', ci);
  const warm = await trusted.start();
  expect(await offered(warm)).toBe('1.0.0');
  await trusted.publishTo('stable', '1.1.0', ci);
  const key = revisionKey('desktop', 3);
  const { signed } = JSON.parse(String(await readText(world.memory, key)));
  const newer = { ...signed, schema_version: 3 };
  const signatures = [await signRevision(ci, digestOf(newer))];
  const text = JSON.stringify({ signed: newer, digest: digestOf(newer), signatures });
  await world.tamper(key, () => text);
  for (const change of [
    () => trusted.yank('1.0.0'),
    () => trusted.publishTo('stable', '1.2.0', ci),
  ]) {
    await expect(change()).rejects.toMatchObject({
      code: 'document_newer',
      message: expect.stringContaining('has schema version 3; this Slipway reads up to 2'),
    });
  }
  await look(warm);
  expect(await offered(warm)).toBe('1.0.0');
  expect(problemsOf(warm)).toContain('Upgrade Slipway');
  expect(await trusted.newestNumber()).toBe(3);
});

it('a manifest of version 2 is newer than what the process knows', async () => {
  await trusted.init(OPERATORS_DECIDE, k1, ci);
  await trusted.publishTo('stable', '1.0.0', ci);
  const text = await readText(world.memory, manifestKey('desktop', '1.0.0', 1));
  const { signed } = JSON.parse(String(text));
  const newer = { ...signed, number: 2, schema_version: 2 };
  const next = JSON.stringify({ signed: newer, digest: digestOf(newer), signatures: [] });
  await world.memory.create(manifestKey('desktop', '1.0.0', 2), Buffer.from(next));
  await expect(trusted.publishTo('stable', '1.0.0', ci)).rejects.toMatchObject({
    code: 'document_newer',
  });
});
