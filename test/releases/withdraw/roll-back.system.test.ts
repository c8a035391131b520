import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readRevision } from '../../../src/catalog/reading/read.ts';
import { changeCatalog } from '../../../src/catalog/writing/change.ts';
import { REASON_BYTES_MAX } from '../../../src/domain/reason.ts';
import { compareVersions, parseVersion } from '../../../src/domain/version.ts';
import { installedText } from '../../../src/releases/forecast/clients-text.ts';
import { promoteRelease } from '../../../src/releases/publish/promote-release.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { changeRollout } from '../../../src/releases/rollouts/change-rollout.ts';
import { changeStatus, type StatusVerb } from '../../../src/releases/withdraw/change-status.ts';
import { planRollback, rollBack } from '../../../src/releases/withdraw/roll-back.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { offerOf, setUpLarge } from '../../catalog/documents/large-revision.ts';
import { createFixedClock, createSeededRandomness } from '../../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../../support/faulty-store.ts';
import { makeArtifact, makeTemporaryDirectory, publish } from '../../support/release.ts';
import { rounds } from '../../support/rounds.ts';
import { offerJson } from '../offer-json.ts';

const temporary = await makeTemporaryDirectory();
afterAll(() => temporary.remove());

let deps: ReturnType<typeof createParts>;
/** The same store without the faults: of another process. */
let others: Omit<typeof deps, 'store'> & { store: ReturnType<typeof createMemoryStore> };

function createParts(store: FaultyStore, clock = createFixedClock()) {
  return { store, clock, randomness: createSeededRandomness(1), actor: 'test' };
}

beforeEach(async () => {
  const memory = createMemoryStore({ clock: createFixedClock() });
  deps = createParts(createFaultyStore(memory));
  others = { ...deps, store: memory };
  for (const version of ['1.3.0', '1.4.0', '1.5.0', '1.5.1']) await release(version);
});

async function release(version: string, request: Partial<PublishRequest> = {}): Promise<void> {
  const artifact = await makeArtifact(`${temporary.path}/${version}`, { content: version });
  await publish(others, { version, artifacts: [artifact], ...request });
}

const setStatus = (verb: StatusVerb, version: string, channel?: string) =>
  changeStatus(others, verb, { application: 'desktop', version, channel, reason: null });
const promote = (version: string, to: string) =>
  promoteRelease(others, {
    application: 'desktop',
    version,
    to,
    create: true,
    allowPrerelease: true,
    allowOlder: true,
  });
const requestTo = (to: string, channel = 'stable') => ({
  application: 'desktop',
  to,
  channel,
  reason: 'loses settings',
});

async function roll(to: string, channel?: string) {
  const plan = await planRollback(deps, requestTo(to, channel));
  return rollBack(deps, requestTo(to, channel), plan.withdrawn);
}

async function statuses(): Promise<Record<string, string>> {
  const { channels = {} } = (await readRevision(others, 'desktop'))?.signed ?? {};
  return Object.fromEntries(
    Object.entries(channels).map(([name, { offers }]) => [
      name,
      offers
        .map(({ version, status }) => `${version} ${status}`)
        .sort()
        .join(', '),
    ]),
  );
}

const lastChange = async () => (await readRevision(others, 'desktop'))?.signed.change;

/** Lets another process act between the decision of the next change and its commit. */
function overtake(other: () => Promise<unknown>): void {
  deps.store.setPlan(async ({ method, key }) => {
    if (method !== 'create' || !key.includes('/catalog/')) return undefined;
    deps.store.setPlan(undefined);
    await other();
    return undefined;
  });
}

describe('a rollback', () => {
  it('yanks every newer release on every channel that lists it, in one commit', async () => {
    await promote('1.5.0', 'beta');
    await promote('1.3.0', 'beta');
    await setStatus('pause', '1.5.1');
    const { revision } = await setStatus('pause', '1.5.1');
    const done = await roll('1.4.0');
    expect(done).toMatchObject({
      changed: true,
      revision: revision + 1,
      withdrawn: [
        { version: '1.5.1', channels: ['stable'] },
        { version: '1.5.0', channels: ['stable', 'beta'] },
      ],
    });
    expect(await statuses()).toEqual({
      stable: '1.3.0 active, 1.4.0 active, 1.5.0 yanked, 1.5.1 yanked',
      beta: '1.3.0 active, 1.5.0 yanked',
    });
    expect(await lastChange()).toEqual({
      kind: 'rollback',
      version: '1.4.0',
      channels: ['stable', 'beta'],
      targets: ['windows-x64'],
      summary: 'yanks 1.5.1, 1.5.0',
      reason: 'loses settings',
    });
  });

  it('says what clients get afterwards, the same before and after the commit', async () => {
    const plan = await planRollback(deps, requestTo('1.4.0'));
    expect(
      plan.clients.map((each) => [installedText(each.installed, [each.seen]), each.offered]),
    ).toEqual([
      ['1.5.1 to 1.5.0', null],
      ['1.4.0', null],
      ['1.3.0 and older', '1.4.0'],
      ['new visitors', '1.4.0'],
    ]);
    expect((await statuses()).stable).not.toContain('yanked');
    expect((await rollBack(deps, requestTo('1.4.0'), plan.withdrawn)).clients).toEqual(
      plan.clients,
    );
  });

  it("yanks a channel's own releases only, and names those that it inherits", async () => {
    await release('1.6.0-beta.1', { channel: 'beta' });
    const done = await roll('1.4.0', 'beta');
    expect(done.withdrawn).toEqual([{ version: '1.6.0-beta.1', channels: ['beta'] }]);
    expect(done.inherited).toEqual([
      { version: '1.5.1', channel: 'stable' },
      { version: '1.5.0', channel: 'stable' },
    ]);
    expect(done.clients[0]).toMatchObject({
      installed: { newest: '1.6.0-beta.1' },
      offered: null,
    });
    expect((await statuses()).stable).not.toContain('yanked');
  });

  it('writes a summary of bounded length', async () => {
    for (const version of ['1.6.0', '1.7.0']) await release(version);
    await roll('1.4.0');
    expect((await lastChange())?.summary).toBe('yanks 1.7.0, 1.6.0, 1.5.1 and 1 more');
  });

  it('works for thousands of releases with the longest reason', async () => {
    const large = setUpLarge();
    await large.offer(2_000);
    const request = {
      application: 'desktop',
      to: offerOf(1).version,
      channel: 'stable',
      reason: 'é'.repeat(REASON_BYTES_MAX / 2),
    };
    const { withdrawn } = await planRollback(large.deps, request);
    expect(withdrawn).toHaveLength(1_999);
    const done = await rollBack(large.deps, request, withdrawn);
    expect(done.changed).toBe(true);
    const yanked = done.after.stable?.offers.filter(({ status }) => status === 'yanked');
    expect(yanked).toHaveLength(1_999);
  });
});

describe('a rollback is refused, with the state, and nothing is written', () => {
  const refusal = async (to: string, channel?: string) => {
    const before = await readRevision(others, 'desktop');
    const error = await roll(to, channel).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect((await readRevision(others, 'desktop'))?.digest).toBe(before?.digest);
    return error;
  };

  it('to a version that is unknown, retired, paused or yanked', async () => {
    expect(await refusal('1.4.9')).toMatchObject({
      code: 'unknown_version',
      message: expect.stringMatching(/^The channel stable of desktop does not list 1\.4\.9\./),
    });
    await setStatus('pause', '1.4.0');
    expect(await refusal('1.4.0')).toMatchObject({
      code: 'status_forbids',
      message:
        '1.4.0 is paused on stable, so no client is offered it. Resume it first: slipway resume 1.4.0. Or choose another version; "slipway releases" lists them.',
    });
    await setStatus('yank', '1.4.0');
    expect(await refusal('1.4.0')).toMatchObject({
      message: expect.stringMatching(/^1\.4\.0 is yanked on stable, so .*\. Choose another/),
    });
    await setStatus('retire', '1.4.0');
    expect(await refusal('1.4.0')).toMatchObject({
      message: expect.stringMatching(/^1\.4\.0 was retired from stable, so no client/),
    });
  });

  it('to a version whose rollout has not reached every client', async () => {
    const requested = { text: '25%@0h,100%@1h', freezeWindows: [] };
    const rollout = { kind: 'start', requested } as const;
    const request = { application: 'desktop', version: '1.4.0', channel: undefined, reason: null };
    await changeRollout(others, { ...request, action: rollout });
    expect(await refusal('1.4.0')).toMatchObject({
      code: 'status_forbids',
      message: expect.stringMatching(/^1\.4\.0 is offered to 25% of the installations of stable/),
    });
    deps.clock.advance(3_600_000);
    expect((await roll('1.4.0')).changed).toBe(true);
  });

  it('when nothing is newer, and says what was yanked already', async () => {
    expect(await refusal('1.5.1')).toMatchObject({
      code: 'status_forbids',
      message: expect.stringMatching(
        /has no release above 1\.5\.1 that is active or paused\. --to/,
      ),
    });
    await roll('1.5.0');
    expect(await refusal('1.5.0')).toMatchObject({
      message: expect.stringContaining('1.5.1 is yanked already.'),
    });
  });

  it('for names that do not exist or cannot be', async () => {
    expect(await refusal('1.4.0', 'stabel')).toMatchObject({
      code: 'unknown_channel',
      message: expect.stringContaining('Did you mean stable?'),
    });
    const other = planRollback(deps, { ...requestTo('1.4.0'), application: 'dektop' });
    await expect(other).rejects.toMatchObject({ code: 'unknown_application' });
    expect(await refusal('1.4')).toMatchObject({ code: 'invalid_version' });
    const long = planRollback(deps, { ...requestTo('1.4.0'), reason: 'x'.repeat(400) });
    await expect(long).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('a rollback that another change overtook', () => {
  it('does not yank a newer release that the operator has not seen: it may be the correction', async () => {
    overtake(() => release('1.5.2'));
    await expect(roll('1.4.0')).rejects.toMatchObject({
      code: 'status_forbids',
      message: expect.stringMatching(
        /^1\.5\.2 was offered on stable in the meantime, .* so nothing/,
      ),
    });
    expect((await statuses()).stable).not.toContain('yanked');
    expect((await roll('1.4.0')).withdrawn.map(({ version }) => version)).toEqual([
      '1.5.2',
      '1.5.1',
      '1.5.0',
    ]);
  });

  it('yanks a release also on the channel to which it was promoted meanwhile', async () => {
    overtake(() => promote('1.5.1', 'beta'));
    expect((await roll('1.4.0')).withdrawn[0]?.channels).toEqual(['stable', 'beta']);
    expect((await statuses()).beta).toBe('1.5.1 yanked');
  });

  it('leaves out a release that was yanked or retired meanwhile', async () => {
    overtake(() => setStatus('retire', '1.5.1'));
    expect((await roll('1.4.0')).withdrawn.map(({ version }) => version)).toEqual(['1.5.0']);
  });

  it('is refused when the version that should stay was withdrawn meanwhile', async () => {
    overtake(() => setStatus('yank', '1.4.0'));
    await expect(roll('1.4.0')).rejects.toThrow(/^1\.4\.0 is yanked on stable/);
    expect((await statuses()).stable).toContain('1.5.1 active');
  });

  it('of two at the same moment, one yanks and the other finds nothing to do', async () => {
    const outcomes = await Promise.allSettled([roll('1.4.0'), roll('1.4.0')]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await statuses()).stable).toContain('1.4.0 active, 1.5.0 yanked, 1.5.1 yanked');
  });
});

describe('any rollback', () => {
  const VERSIONS = ['1.0.0', '1.1.0', '1.2.0-beta.1', '1.2.0', '2.0.0'];
  const offersOf = fc
    .uniqueArray(
      fc.record({
        version: fc.constantFrom(...VERSIONS),
        status: fc.constantFrom('active', 'paused', 'yanked'),
      }),
      { selector: ({ version }) => version },
    )
    .map((list) =>
      list.map(({ version, status }) =>
        offerJson(version, [{ os: 'linux', arch: 'x64', format: 'deb' }], {
          status,
          manifest: { number: 1, digest: '0'.repeat(64) },
        }),
      ),
    );

  it('yanks what is newer and nothing else, or is refused and changes nothing', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.record({ stable: offersOf, beta: offersOf }),
        fc.constantFrom(...VERSIONS),
        fc.constantFrom('stable', 'beta'),
        async (offers, to, name) => {
          const parts = createParts(createFaultyStore(createMemoryStore({ clock: deps.clock })));
          const before = {
            stable: { inherits: null, offers: offers.stable, retired: [] },
            beta: { inherits: 'stable', offers: offers.beta, retired: [] },
          };
          await changeCatalog(parts, 'desktop', () => ({
            plan: undefined,
            edit: {
              change: { kind: 'publish', version: to, channels: [name], reason: null },
              channels: before,
            },
          }));
          const request = requestTo(to, name);
          const bad = new Set(
            offers[name as 'stable' | 'beta']
              .filter(({ version, status }) => status !== 'yanked' && isNewer(version, to))
              .map(({ version }) => version),
          );
          const plan = await planRollback(parts, request).catch(() => undefined);
          if (plan === undefined) {
            refused += 1;
            await expect(rollBack(parts, request, [])).rejects.toThrow();
            expect((await readRevision(parts, 'desktop'))?.signed.revision).toBe(1);
            return;
          }
          const { after } = await rollBack(parts, request, plan.withdrawn);
          expect(new Set(plan.withdrawn.map(({ version }) => version))).toEqual(bad);
          for (const each of ['stable', 'beta'] as const) {
            const now = new Map(after[each]?.offers.map((offer) => [offer.version, offer]));
            expect(now.size).toBe(offers[each].length);
            for (const offer of offers[each]) {
              const expected = bad.has(offer.version)
                ? { ...offer, status: 'yanked' }
                : { ...offer };
              expect({ ...now.get(offer.version), reason: null }).toEqual(expected);
            }
          }
        },
      ),
      { numRuns: rounds(100, 300) },
    );
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(300);
  });
});

const isNewer = (a: string, b: string): boolean =>
  compareVersions(parseVersion(a), parseVersion(b)) > 0;
