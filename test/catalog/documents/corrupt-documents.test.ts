import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { artifactsPrefix, manifestKey, revisionKey } from '../../../src/catalog/documents/keys.ts';
import { REVISION_BYTES_MAX } from '../../../src/catalog/documents/revision-size.ts';
import { renderEnvelope } from '../../../src/store/sequence/envelope.ts';
import { createFaultyStore } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createWorld, offered, POLL_MS, problemsOf, useCatalogs } from '../live/live-catalog.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const setup = await makeArtifact(temporary.path, { filename: 'App-Setup.exe' });
const next = await makeArtifact(temporary.path, { filename: 'App-Setup-2.exe', content: 'second' });
const catalogs = useCatalogs();

type Corruption = (text: string) => string | undefined;

/** A document that is whole in itself, with something else in it. */
function resigned(edit: (signed: Record<string, unknown>) => void): Corruption {
  return (text) => {
    const { signed } = JSON.parse(text) as { signed: Record<string, unknown> };
    edit(signed);
    return Buffer.from(renderEnvelope(signed)).toString();
  };
}

const CORRUPTIONS: Readonly<Record<string, Corruption>> = {
  altered: (text) => text.replace('2.0.0', '2.0.9'),
  truncated: (text) => text.slice(0, text.length / 2),
  emptied: () => '',
  'of a newer schema': resigned((signed) => {
    // Signed revisions have schema version 2, and a service reads them.
    signed.schema_version = 3;
  }),
  "another application's": resigned((signed) => {
    signed.application = 'other';
  }),
  'larger than any of its kind': (text) => text + ' '.repeat(REVISION_BYTES_MAX),
};
const REPAIRED_WITHIN_MS = 120_000;

async function setUp() {
  const world = createWorld();
  await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
  const catalog = await catalogs.start(world);
  return { ...world, catalog };
}

describe.each(Object.entries(CORRUPTIONS))('a document that is %s', (_name, corrupt) => {
  it('is not served as a revision: the last good state stays, and the status and the log report it', async () => {
    const { catalog, clock, log, tamper, parts } = await setUp();
    await publish(parts, { version: '2.0.0', artifacts: [next] });
    const key = revisionKey('desktop', 2);
    let whole = '';
    await tamper(key, (text) => {
      whole = text;
      return corrupt(text);
    });
    await clock.advance(20 * POLL_MS);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(problemsOf(catalog)).toContain(key);
    expect(problemsOf(catalog).split(key)).toHaveLength(2);
    expect(log.filter((line) => line.includes(key))).toHaveLength(1);
    // It may have been a withdrawal: a process that starts now cannot know.
    if (_name !== 'of a newer schema') {
      const other = await catalogs.start(createWorld(), { store: parts.store });
      await expect(offered(other)).rejects.toMatchObject({ code: 'catalog_unavailable' });
      expect(problemsOf(other)).toContain(key);
    }
    await tamper(key, () => whole);
    await clock.advance(REPAIRED_WITHIN_MS);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
  });

  it('is not served as a manifest: only its offer is left out, until it is repaired', async () => {
    const { catalog, clock, log, tamper, parts } = await setUp();
    await publish(parts, { version: '2.0.0', artifacts: [next] });
    const key = manifestKey('desktop', '2.0.0', 1);
    let whole = '';
    await tamper(key, (text) => {
      whole = text;
      return corrupt(text);
    });
    await clock.advance(2 * POLL_MS);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(problemsOf(catalog)).toMatch(/2\.0\.0 is not offered: .*manifest/);
    expect(log.join('\n')).toContain(key);
    await tamper(key, () => whole);
    await clock.advance(REPAIRED_WITHIN_MS);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
  });
});

describe('a corrupt newest revision', () => {
  it('is stepped over and named by the next commit only when an operator allows it', async () => {
    const { catalog, clock, tamper, parts, store } = await setUp();
    await publish(parts, { version: '2.0.0', artifacts: [next] });
    await tamper(revisionKey('desktop', 2), (text) => text.slice(0, 50));
    await clock.advance(2 * POLL_MS);
    const again = { version: '2.0.0', artifacts: [next] };
    for (const skipCorrupt of [[], [1], [3]]) {
      await expect(publish({ ...parts, skipCorrupt }, again)).rejects.toMatchObject({
        code: 'document_corrupt',
        message: expect.stringContaining('--skip-corrupt 2'),
      });
    }
    await publish({ ...parts, skipCorrupt: [2] }, again);
    await clock.advance(2 * POLL_MS);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
    const revision = await store.get(revisionKey('desktop', 3));
    const { signed } = JSON.parse(Buffer.from(revision?.body ?? []).toString());
    const { body } = (await store.get(revisionKey('desktop', 2))) ?? {};
    const sha256 = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const skipped = [{ number: 2, reason: expect.any(String), sha256 }];
    expect(signed).toMatchObject({ previous: { revision: 1 }, skipped });
    // No later change has to allow it again.
    await publish(parts, { version: '3.0.0', artifacts: [next] });
  });
});

describe('an application whose only revision is corrupt', () => {
  it('is unavailable, not unknown', async () => {
    const world = createWorld();
    await publish(world.parts, { version: '1.0.0', artifacts: [setup] });
    await world.tamper(revisionKey('desktop', 1), (text) => text.slice(0, 50));
    const catalog = await catalogs.start(world);
    await expect(offered(catalog)).rejects.toMatchObject({ code: 'catalog_unavailable' });
    expect(problemsOf(catalog)).toContain(revisionKey('desktop', 1));
    const skipping = { ...world.parts, skipCorrupt: [1] };
    await publish(skipping, { version: '1.0.0', artifacts: [setup] });
    await world.clock.advance(6 * POLL_MS);
    expect(await offered(catalog)).toBe('1.0.0');
  });
});

describe('the only revision, corrupt after a service has read it', () => {
  it('is followed by the revision that an operator allowed to step over it', async () => {
    const { catalog, clock, tamper, parts } = await setUp();
    expect(await offered(catalog)).toBe('1.0.0');
    await tamper(revisionKey('desktop', 1), (text) => text.slice(0, 50));
    const request = { version: '2.0.0', artifacts: [next] };
    await publish({ ...parts, skipCorrupt: [1] }, request);
    await clock.advance(4 * POLL_MS);
    expect(await offered(catalog)).toBe('2.0.0');
    expect(problemsOf(catalog)).toBe('');
  });
});

describe('a corrupt manifest', () => {
  it('is described as a manifest, with its key and what to do', async () => {
    const { parts, tamper, memory } = await setUp();
    // The manifest of a publish that was killed before its revision: no offer names it.
    const killed = createFaultyStore(memory);
    killed.setPlan(({ method, key }) =>
      method === 'create' && key.includes('/catalog/')
        ? { when: 'before', code: 'store_denied' }
        : undefined,
    );
    const request = { version: '2.0.0', artifacts: [next] };
    await expect(publish({ ...parts, store: killed }, request)).rejects.toThrow();
    const key = manifestKey('desktop', '2.0.0', 1);
    await tamper(key, (text) => text.slice(0, 50));
    const message = await publish(parts, request).catch((error: Error) => error.message);
    expect(message).toContain(`${key} is truncated or not JSON. This manifest lists the files`);
    expect(message).toContain('--skip-corrupt 1');
    expect(message).not.toMatch(/revision|withdraw/);
    const { revision } = await publish({ ...parts, skipCorrupt: [1] }, request);
    expect(revision).toBe(2);
  });
});

describe('an offer', () => {
  it('is left out when its manifest is not the one that it names', async () => {
    const { catalog, clock, tamper, parts } = await setUp();
    await publish(parts, { version: '2.0.0', artifacts: [next] });
    const edit = resigned((signed) => {
      signed.notes = { und: 'Not what was published.' };
    });
    await tamper(manifestKey('desktop', '2.0.0', 1), edit);
    await clock.advance(2 * POLL_MS);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(problemsOf(catalog)).toContain('not the one that the catalog names');
  });

  it('is left out while its file is missing or has another size', async () => {
    for (const corrupt of [() => undefined, () => 'of another size'] as Corruption[]) {
      const { catalog, clock, log, tamper, parts, memory } = await setUp();
      await publish(parts, { version: '2.0.0', artifacts: [next] });
      let key = '';
      for await (const object of memory.list(artifactsPrefix('desktop'))) {
        if (object.key.endsWith(next.filename)) key = object.key;
      }
      await tamper(key, corrupt);
      await clock.advance(2 * POLL_MS);
      expect(await offered(catalog)).toBe('1.0.0');
      expect(problemsOf(catalog)).toContain(key);
      expect(log.join('\n')).toContain(key);
      await tamper(key, () => 'second');
      await clock.advance(REPAIRED_WITHIN_MS);
      expect(await offered(catalog)).toBe('2.0.0');
      expect(problemsOf(catalog)).toBe('');
    }
  });
});
