import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openService } from '../../../src/app.ts';
import { revisionKey, rootKey } from '../../../src/catalog/documents/keys.ts';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import type { Trust } from '../../../src/catalog/trust/trust.ts';
import { decideRootless } from '../../../src/catalog/trust/without-root.ts';
import { exportStatic } from '../../../src/features/export/export-static.ts';
import { openTrust } from '../../../src/releases/trust/open-trust.ts';
import { collectGarbage } from '../../../src/releases/verify/collect-garbage.ts';
import { changeStatus } from '../../../src/releases/withdraw/change-status.ts';
import { createStaticDirectory } from '../../../src/store/static-target/static-directory.ts';
import { createHastyClock } from '../../support/clock.ts';
import { listKeys, readText } from '../../support/objects.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { createTestService } from '../../support/service.ts';
import { FRESH_MS } from '../../support/trust.ts';
import {
  offered,
  POLL_MS,
  problemsOf,
  STALE_MAX_MS,
  untilSaved,
  useCatalogs,
  type World,
} from '../live/live-catalog.ts';
import { ci, k1, look, must, OPERATORS_DECIDE, useTrustedWorld } from './trusted-world.ts';

/**
 * Processes without a root of trust, and signed applications: the operator of the process has forgotten TRUST_ROOT. An
 * attacker can plant what a signed application has; that must be no worse than garbage in the same place.
 */

const trusted = await useTrustedWorld();
const { forge, newestNumber, publishUnsigned } = trusted;
const catalogs = useCatalogs();
const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());
const ROOT = rootKey('desktop', 1);
const NEEDS_ROOT = 'Set TRUST_ROOT to the root file of desktop';
const REFUSED = 'has no root of trust for it';
let world: World;
let directories = 0;

beforeEach(() => {
  world = trusted.begin();
});

/** The trust of a process with these settings, without TRUST_ROOT. */
const rootless = (...unsigned: readonly string[]): Promise<Trust> =>
  openTrust({
    store: world.store,
    clock: world.clock,
    settings: {
      root: undefined,
      unsigned,
      key: undefined,
      passphrase: undefined,
      freshMs: FRESH_MS,
    },
    ask: async () => '',
  });

interface Started {
  readonly stateDirectory?: string;
  /** TRUST_UNSIGNED. */
  readonly unsigned?: readonly string[];
}

/** Starts a service without TRUST_ROOT. */
const serve = async ({ unsigned = [], ...options }: Started = {}) =>
  catalogs.start(world, { ...options, trust: await rootless(...unsigned) });

/** A publisher without TRUST_ROOT. */
const publisher = async (...unsigned: readonly string[]) => ({
  ...world.parts,
  actor: 'test',
  trust: await rootless(...unsigned),
});

/** The people of another machine give the application a root of trust. */
const switchOn = async (): Promise<void> =>
  trusted.init({ ...OPERATORS_DECIDE, firstRevision: (await newestNumber()) + 1 }, k1, ci);

/** The state of a service that ran before, with or without verification. */
async function savedState(unsigned: readonly string[] = []): Promise<string> {
  const stateDirectory = path.join(temporary.path, `state-${directories++}`);
  const before = await serve({ stateDirectory, unsigned });
  await untilSaved(world, stateDirectory);
  await before.stop();
  return stateDirectory;
}

const file = (version: string) =>
  makeArtifact(temporary.path, { filename: `App-${version}.exe`, content: `program ${version}` });
const keys = (): Promise<readonly string[]> => listKeys(world.memory, 'apps/');

describe('a service without TRUST_ROOT', () => {
  it('keeps what it served when trust is switched on elsewhere, and says why, until that is too old', async () => {
    await publishUnsigned('desktop', '1.0.0');
    const catalog = await serve();
    await switchOn();
    await trusted.publishTo('stable', '2.0.0', ci);
    await look(catalog);
    expect(await offered(catalog)).toBe('1.0.0');
    expect(problemsOf(catalog)).toContain(NEEDS_ROOT);
    expect(problemsOf(catalog)).toContain(revisionKey('desktop', 2));
    expect(world.log.join('\n')).toContain(NEEDS_ROOT);
    await world.clock.advance(STALE_MAX_MS + POLL_MS);
    await expect(offered(catalog)).rejects.toThrow(REFUSED);
    expect(catalog.health().ready).toBe(false);
  });

  it('serves nothing of a signed application when it remembers nothing', async () => {
    await switchOn();
    await trusted.publishTo('stable', '1.0.0', ci);
    const catalog = await serve();
    await expect(offered(catalog)).rejects.toThrow(REFUSED);
    expect(problemsOf(catalog)).toContain(NEEDS_ROOT);
  });

  it('starts from an unsigned saved state, and from no signed one', async () => {
    await publishUnsigned('desktop', '1.0.0');
    const unsigned = await savedState();
    await switchOn();
    const signed = await savedState(['desktop']);
    const warm = await serve({ stateDirectory: unsigned });
    expect(await offered(warm)).toBe('1.0.0');
    expect(problemsOf(warm)).toContain(NEEDS_ROOT);
    const cold = await serve({ stateDirectory: signed });
    await expect(offered(cold)).rejects.toThrow(REFUSED);
  });

  it('takes no application for unsigned because of one unsigned revision', async () => {
    await switchOn();
    await trusted.publishTo('stable', '1.0.0', ci);
    await forge((signed) => Object.assign(signed, { trust: undefined }));
    await world.tamper(revisionKey('desktop', 3), (text) =>
      JSON.stringify({ ...JSON.parse(text), signatures: [] }),
    );
    await expect(offered(await serve())).rejects.toThrow(REFUSED);
    await world.memory.delete(ROOT);
    const catalog = await serve();
    await expect(offered(catalog)).rejects.toThrow(REFUSED);
    expect(problemsOf(catalog)).toContain(revisionKey('desktop', 2));
    const reader = await publisher();
    await expect(readRevision(reader, 'desktop')).rejects.toThrow(NEEDS_ROOT);
  });

  it('serves the unsigned applications beside a signed one', async () => {
    await publishUnsigned('shell', '3.0.0');
    await switchOn();
    await trusted.publishTo('stable', '1.0.0', ci);
    const catalog = await serve();
    expect(await offered(catalog, 'shell')).toBe('3.0.0');
    await expect(offered(catalog)).rejects.toThrow(REFUSED);
    expect(catalog.health().ready).toBe(true);
  });

  it('asks once for the root of an unsigned application, whatever the number of polls', async () => {
    await publishUnsigned('desktop', '1.0.0');
    await publishUnsigned('desktop', '1.1.0');
    const asked: string[] = [];
    world.store.setPlan(({ method, key }) => {
      if (key.includes('/trust/')) asked.push(`${method} ${key}`);
      return undefined;
    });
    const catalog = await serve();
    await world.clock.advance(100 * POLL_MS);
    await publishUnsigned('desktop', '1.2.0');
    await world.clock.advance(100 * POLL_MS);
    expect(await offered(catalog)).toBe('1.2.0');
    expect(asked).toEqual([`get ${ROOT}`]);
  });

  it('is what the program runs: its answer, its status and its export', async () => {
    await switchOn();
    await trusted.publishTo('stable', '1.0.0', ci);
    const clock = createHastyClock(world.clock.now());
    const log: string[] = [];
    const service = await createTestService({ store: world.memory, clock, log });
    try {
      const url = '/api/v1/desktop/latest-version';
      const { statusCode, body } = await service.app.http.inject({ url });
      expect([statusCode, JSON.parse(body).detail]).toEqual([
        503,
        expect.stringContaining(REFUSED),
      ]);
      expect(service.app.status.report().indicator).toBe('critical');
      expect(log.join('\n')).toContain(NEEDS_ROOT);
      expect(await service.app.metrics.metrics()).toMatch(
        /slipway_catalog_problems\{app="desktop"\} 1/,
      );
      const exporting = exportStatic(
        {
          ...service,
          environment: {},
          loadService: async () => openService,
          target: createStaticDirectory(path.join(temporary.path, 'public'), './public'),
          onProgress: () => {},
        },
        {
          publicUrl: 'https://updates.example.com',
          application: undefined,
          withAliases: false,
          also: [],
          isDryRun: false,
        },
      );
      await expect(exporting).rejects.toThrow(NEEDS_ROOT);
    } finally {
      await service.close();
    }
  });
});

describe('an attacker who plants what a signed application has', () => {
  it.each([
    ['a root', () => ROOT, async () => void (await world.memory.create(ROOT, Buffer.from('x')))],
    [
      'a signed revision',
      () => revisionKey('desktop', 2),
      async () => {
        const trust = { root: { version: 1, digest: '0'.repeat(64) } };
        await forge((signed) => Object.assign(signed, { trust }));
      },
    ],
  ])('%s stops no running process, and the operator deletes it', async (_name, keyOf, plant) => {
    await publishUnsigned('desktop', '1.0.0');
    const stateDirectory = await savedState();
    const warm = await serve();
    await plant();
    await look(warm);
    expect(await offered(warm)).toBe('1.0.0');
    const restarted = await serve({ stateDirectory });
    expect(await offered(restarted)).toBe('1.0.0');
    const cold = await serve();
    await expect(offered(cold)).rejects.toThrow(REFUSED);
    const remedy = `If no person ran "slipway trust init" for desktop, delete ${keyOf()}.`;
    expect(problemsOf(cold)).toContain(remedy);
    expect(problemsOf(restarted)).toContain(remedy);
    const writer = await publisher();
    await expect(
      publish(writer, { version: '1.1.0', artifacts: [await file('1.1.0')] }),
    ).rejects.toThrow(remedy);
    await world.memory.delete(keyOf());
    for (const catalog of [warm, restarted, cold]) {
      await look(catalog);
      expect(await offered(catalog)).toBe('1.0.0');
      expect(problemsOf(catalog)).toBe('');
    }
    const after = await publisher();
    await publish(after, { version: '1.1.0', artifacts: [await file('1.1.0')] });
    await look(warm);
    expect(await offered(warm)).toBe('1.1.0');
  });
});

describe('TRUST_UNSIGNED', () => {
  beforeEach(async () => {
    await switchOn();
    await trusted.publishTo('stable', '1.0.0', ci);
  });

  it('lets a service serve a signed application, and the status says so without an alarm', async () => {
    const clock = createHastyClock(world.clock.now());
    const env = { TRUST_UNSIGNED: 'desktop' };
    const service = await createTestService({ store: world.memory, clock, env });
    try {
      const { catalog, status } = service.app;
      expect(await offered(catalog)).toBe('1.0.0');
      expect(catalog.health().applications.desktop).toMatchObject({
        problems: [],
        isUnverified: true,
      });
      const { indicator, components } = status.report();
      expect(indicator).toBe('none');
      expect(components.find(({ id }) => id === 'catalog')).toMatchObject({
        status: 'operational',
        description: expect.stringContaining('are not verified (TRUST_UNSIGNED)'),
      });
    } finally {
      await service.close();
    }
  });

  it('lets no command change it: publish, yank and gc refuse, and store nothing', async () => {
    const before = await keys();
    const deps = await publisher('desktop');
    expect((await readRevision(deps, 'desktop'))?.signed.revision).toBe(2);
    const request = { version: '9.0.0', artifacts: [await file('9.0.0')] };
    await expect(publish(deps, request)).rejects.toThrow(NEEDS_ROOT);
    const yank = { application: 'desktop', version: '1.0.0', channel: undefined, reason: 'x' };
    await expect(changeStatus(deps, 'yank', yank)).rejects.toThrow(NEEDS_ROOT);
    const { results } = await collectGarbage(deps, { application: undefined });
    expect(must(results[0])).toMatchObject({
      objects: [],
      refusal: expect.stringContaining(NEEDS_ROOT),
    });
    expect(await keys()).toEqual(before);
    expect(await trusted.offeredCold()).toBe('1.0.0');
  });

  it('lets no command change it when only the root is left that shows the signatures', async () => {
    for (const number of [2, 1]) await world.memory.delete(revisionKey('desktop', number));
    await trusted.deleteUnder('changes/');
    const deps = await publisher('desktop');
    const request = { version: '9.0.0', artifacts: [await file('9.0.0')] };
    await expect(publish(deps, request)).rejects.toThrow(`as ${ROOT} shows`);
  });
});

describe('a command without TRUST_ROOT', () => {
  it('cleans up the unsigned applications, and refuses the signed one', async () => {
    await publishUnsigned('shell', '3.0.0');
    await switchOn();
    const { results } = await collectGarbage(await publisher(), { application: undefined });
    expect(results.map(({ application, refusal }) => [application, refusal])).toEqual([
      ['shell', undefined],
      ['desktop', expect.stringContaining(NEEDS_ROOT)],
    ]);
  });

  it('does not sign away a root that another person has just made', async () => {
    await publishUnsigned('desktop', '1.0.0');
    const deps = await publisher();
    await readRevision(deps, 'desktop');
    await switchOn();
    const request = { version: '1.1.0', artifacts: [await file('1.1.0')] };
    await expect(publish(deps, request)).rejects.toThrow(NEEDS_ROOT);
    expect(await readText(world.memory, revisionKey('desktop', 3))).toBeUndefined();
  });
});

it.each([
  [undefined, false, 'read', false],
  [undefined, false, 'change', false],
  [undefined, true, 'change', false],
  [ROOT, false, 'read', true],
  [ROOT, false, 'change', true],
  [ROOT, true, 'read', false],
  [ROOT, true, 'change', true],
] as const)(
  'evidence %s, in TRUST_UNSIGNED: %s, to %s it: refused %s',
  (evidence, isUnsigned, wants, isRefused) => {
    const refusal = decideRootless('desktop', { evidence, isUnsigned, wants });
    expect(refusal !== undefined).toBe(isRefused);
  },
);
