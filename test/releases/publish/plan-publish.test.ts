import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Channels } from '../../../src/catalog/documents/revision-document.ts';
import { draftIn } from '../../../src/catalog/reading/list-drafts.ts';
import type { ManifestReference } from '../../../src/catalog/reading/read.ts';
import type { Artifact } from '../../../src/domain/release.ts';
import { parseTarget } from '../../../src/domain/target.ts';
import {
  type Publish,
  type PublishPlan,
  planPublish,
} from '../../../src/releases/publish/plan-publish.ts';
import { admit, type PublishState } from '../../../src/releases/publish/read-publish-state.ts';

const VERSION = '1.5.0';
const NOW = Date.parse('2026-11-21T09:00:00Z');
const TARGETS = ['windows-x64', 'macos-arm64', 'linux-x64'] as const;
type TargetName = (typeof TARGETS)[number];
const FORMATS = { 'windows-x64': 'nsis', 'macos-arm64': 'zip', 'linux-x64': 'appimage' } as const;

function artifactFor(target: TargetName, bytes = '0'): Artifact {
  const sha256 = bytes.repeat(64).slice(0, 64);
  return {
    ...parseTarget(target),
    format: FORMATS[target],
    filename: `App-${target}`,
    size: 1,
    sha256,
    sha512: sha256.repeat(2),
    object: `${sha256}-${target}`,
    minimumOsVersion: null,
    signatures: [],
    companions: [],
  };
}

function publishing(targets: readonly TargetName[], asked: Partial<Publish> = {}): Publish {
  const named = { application: 'desktop', version: VERSION };
  return {
    ...named,
    channel: 'stable',
    create: true,
    allowPrerelease: false,
    expect: TARGETS.map(parseTarget),
    rehashed: [],
    repacked: [],
    uploadsBegan: NOW,
    verifiedWith: { tauriPubkey: undefined, sparklePubkey: undefined },
    salt: 'salt',
    mine: {
      ...named,
      releasedAt: new Date(NOW).toISOString(),
      notes: undefined,
      described: { name: null, notes: null },
      requires: undefined,
      mandatoryFor: undefined,
      endsNative: [],
      provenance: { commit: null, buildUrl: null },
      artifacts: targets.map((target) => artifactFor(target)),
      carried: [],
      statesTrustedKeys: false,
    },
    ...asked,
  };
}

/** A store in memory: the manifests of the version, and the channels. It commits plans as `commitRelease` does. */
interface Stored {
  readonly channels: Channels;
  readonly manifests: readonly ManifestReference[];
}
const EMPTY: Stored = { channels: {}, manifests: [] };

function stateOf(
  { channels, manifests }: Stored,
  publish: Publish,
  newest = manifests.at(-1),
): PublishState {
  const admitted = admit(
    { channels, removedVersions: [], settings: {}, trust: undefined, next: 1 },
    publish,
  );
  const numbers = Object.values(channels).flatMap(({ offers }) =>
    offers.filter(({ version }) => version === VERSION).map(({ manifest }) => manifest.number),
  );
  const draft = draftIn(admitted.channel, VERSION);
  const numbered = (number: number) => manifests[number - 1];
  return {
    ...admitted,
    now: NOW,
    newest,
    base: draft === undefined ? newest : numbered(draft.manifest.number),
    offered: [...new Set(numbers)].sort().flatMap((number) => numbered(number) ?? []),
    restored: [],
    former: [],
    offerRight: undefined,
  };
}

/** Stores the manifest that a plan wants, unless it is kept. */
function store(stored: Stored, { manifest }: PublishPlan): [Stored, ManifestReference] {
  if (manifest.kept !== undefined) return [stored, manifest.kept];
  const number = stored.manifests.length + 1;
  const made = {
    number,
    digest: `digest-${number}`,
    catalogRevision: 0,
    release: manifest.release,
  };
  return [{ ...stored, manifests: [...stored.manifests, made] }, made];
}

function commit(stored: Stored, plan: PublishPlan): Stored {
  return plan.edit === undefined ? stored : { ...stored, channels: plan.edit.channels };
}

function publish(stored: Stored, request: Publish): Stored {
  const [withManifest, made] = store(stored, planPublish(stateOf(stored, request), request));
  const plan = planPublish(stateOf(withManifest, request, made), request);
  expect(plan.manifest.kept).toEqual(made);
  return commit(withManifest, plan);
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

const builds = (stored: Stored) =>
  Object.values(stored.channels).flatMap(({ offers }) => offers.map((o) => o.artifacts.length));

describe('planPublish', () => {
  const someTargets = fc.subarray([...TARGETS], { minLength: 1 });

  it('changes none of its inputs, and plans the same for the same state', () => {
    fc.assert(
      fc.property(fc.array(someTargets, { minLength: 1, maxLength: 4 }), (contributions) => {
        let stored = EMPTY;
        for (const targets of contributions) {
          const request = frozen(publishing(targets));
          const state = frozen(stateOf(stored, request));
          expect(planPublish(state, request)).toEqual(planPublish(state, request));
          stored = publish(stored, request);
        }
      }),
    );
  });

  it('holds the release back until the last expected build, whatever the order, then offers all builds at once', () => {
    fc.assert(
      fc.property(fc.array(someTargets, { minLength: 1, maxLength: 5 }), (contributions) => {
        const stored = contributions.reduce((s, targets) => publish(s, publishing(targets)), EMPTY);
        const isWhole = new Set(contributions.flat()).size === TARGETS.length;
        expect(builds(stored)).toEqual(isWhole ? [TARGETS.length] : []);
      }),
    );
  });

  it('changes nothing when the same publisher runs again', () => {
    fc.assert(
      fc.property(fc.array(someTargets, { minLength: 1, maxLength: 3 }), (contributions) => {
        const requests = contributions.map((targets) => publishing(targets));
        const stored = requests.reduce(publish, EMPTY);
        for (const request of requests) {
          const plan = planPublish(stateOf(stored, request), request);
          expect(plan.edit).toBeUndefined();
          expect(plan.manifest.kept).toBeDefined();
        }
      }),
    );
  });

  it('wants another manifest when a publisher was faster, and loses no build', () => {
    fc.assert(
      fc.property(someTargets, someTargets, (first, second) => {
        const begun = publish(EMPTY, publishing(['windows-x64']));
        const slow = publishing(first);
        const [stored, made] = store(begun, planPublish(stateOf(begun, slow), slow));
        const raced = publish(stored, publishing(second));
        const plan = planPublish(stateOf(raced, slow, made), slow);
        const adds = first.some((each) => each !== 'windows-x64' && !second.includes(each));
        if (adds && second.some((each) => each !== 'windows-x64' && !first.includes(each))) {
          expect(plan.manifest.kept).toBeUndefined();
        }
        const all = new Set(['windows-x64', ...first, ...second]);
        expect(plan.manifest.release.artifacts).toHaveLength(all.size);
      }),
    );
  });

  it('refuses other bytes for a file that is offered, and takes them for a file that is held back', () => {
    const other = publishing([], {
      mine: { ...publishing([]).mine, artifacts: [artifactFor('windows-x64', '1')] },
    });
    const held = publish(EMPTY, publishing(['windows-x64']));
    expect(planPublish(stateOf(held, other), other).manifest.release.artifacts[0]?.sha256).toBe(
      '1'.repeat(64),
    );
    const offered = publish(EMPTY, publishing(TARGETS));
    expect(() => planPublish(stateOf(offered, other), other)).toThrow('is never replaced');
  });

  it('names the release that has to be verified only when clients are first offered it', () => {
    const begun = planPublish(stateOf(EMPTY, publishing(['linux-x64'])), publishing(['linux-x64']));
    expect(begun.firstOffered).toBeUndefined();
    const whole = publishing(TARGETS);
    const plan = planPublish(stateOf(EMPTY, whole), whole);
    expect(plan.firstOffered).toEqual(plan.manifest.release);
    const again = planPublish(stateOf(publish(EMPTY, whole), whole), whole);
    expect(again.firstOffered).toBeUndefined();
  });

  it('refuses uploads that no manifest names after a day, and needs none when it adds nothing', () => {
    const request = publishing(TARGETS);
    const late = { ...stateOf(EMPTY, request), now: NOW + 25 * 60 * 60_000 };
    expect(() => planPublish(late, request)).toThrow('more than a day');
    const stored = publish(EMPTY, request);
    expect(planPublish({ ...stateOf(stored, request), now: late.now }, request).edit).toBe(
      undefined,
    );
  });

  it('does not take over what another publisher has not committed, when it runs again in a draft', () => {
    const windows = publishing(['windows-x64']);
    const begun = publish(EMPTY, windows);
    const linux = publishing(['linux-x64']);
    const [stored] = store(begun, planPublish(stateOf(begun, linux), linux));
    expect(stored.manifests).toHaveLength(2);
    // Another channel retired the version, so clients may have files of any manifest.
    const state = { ...stateOf(stored, windows), removedVersions: [VERSION] };
    const plan = planPublish(state, windows);
    expect(plan.edit).toBeUndefined();
    expect(plan.manifest.kept?.number).toBe(1);
  });
});
