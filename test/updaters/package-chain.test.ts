import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAppError } from '../../src/core/errors.ts';
import type { Companion } from '../../src/domain/companion.ts';
import type { Artifact, Release } from '../../src/domain/release.ts';
import { compareSquirrelVersions, squirrelTextOf } from '../../src/domain/squirrel-version.ts';
import type { FeedListing, FeedProtocol, ProtocolRequest } from '../../src/updaters/protocol.ts';
import { squirrelWindows } from '../../src/updaters/squirrel-windows/squirrel-windows.ts';
import { velopack } from '../../src/updaters/velopack/velopack.ts';
import { rounds } from '../support/rounds.ts';

/** The rules of every document of packages: the grammar, and that a client can apply the deltas that it takes. */

/** PROTOCOLS.md's grammar of a line. */
const LINE = /^([0-9a-fA-F]{40})\s+(\S+)\s+(\d+)[\r]*$/;

const VERSIONS = [
  '1.0.0-beta.1',
  '1.0.0-beta.2',
  '1.0.0-rc.1',
  '1.0.0',
  '1.1.0',
  '1.10.0',
  '2.0.0',
];

/** The packages with which one release was published. */
interface Published {
  /** The versions that its deltas are applied to, each by the number of places before the release. */
  readonly distances: readonly number[];
  readonly isServable: boolean;
  readonly hasSha1: boolean;
  readonly id: string;
}

const published: fc.Arbitrary<Published> = fc.record({
  distances: fc.array(fc.constantFrom(1, 1, 1, 2, 3), { maxLength: 3 }),
  isServable: fc.integer({ min: 0, max: 9 }).map((n) => n > 1),
  hasSha1: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  id: fc.constantFrom('App', 'My.App2', 'my-app'),
});
const channel = fc.tuple(
  fc.array(published, { minLength: VERSIONS.length, maxLength: VERSIONS.length }),
  // A client that has the newest version is not offered it.
  fc.option(fc.nat(VERSIONS.length - 2), { nil: null }),
);

function releaseOf(format: 'squirrel' | 'velopack', place: number, how: Published): Release {
  const version = VERSIONS[place] ?? '';
  const text = format === 'squirrel' ? squirrelTextOf(version) : version;
  const stored = (filename: string) => ({
    ...{
      filename,
      size: 1000 + place,
      sha256: 'ab'.repeat(32),
      sha512: 'cd'.repeat(64),
      object: '',
    },
    ...(how.hasSha1 ? { sha1: 'ef'.repeat(20) } : {}),
  });
  const companions = [...new Set(how.distances)]
    .map((distance) => place - distance)
    .filter((base) => base >= 0)
    .map((base, index): Companion => {
      const name = `${how.id}${index === 0 ? '' : index}-${text}-delta.nupkg`;
      return { ...stored(name), kind: 'delta', base: VERSIONS[base] ?? '' };
    });
  const artifact: Artifact = {
    ...stored(`${how.id}-${text}-full.nupkg`),
    platform: 'windows',
    arch: 'x64',
    format,
    minimumOsVersion: null,
    signatures: [],
    companions,
  };
  return { ...EMPTY, version, artifacts: [artifact] };
}

const EMPTY: Release = {
  application: 'desktop',
  version: '',
  releasedAt: '2026-11-22T00:00:00.000Z',
  name: null,
  notes: {},
  notesRemoved: [],
  requires: null,
  mandatoryFor: null,
  endsNative: [],
  provenance: { commit: null, buildUrl: null },
  artifacts: [],
  carried: [],
};

interface Listed {
  readonly name: string;
  readonly isDelta: boolean;
  /** Of the release. */
  readonly version: string;
  readonly base: string | undefined;
}

/** The packages in the document for a client with a version; undefined when the dialect refuses. */
function list(
  dialect: FeedProtocol,
  format: 'squirrel' | 'velopack',
  hows: readonly Published[],
  from: number | null,
): readonly Listed[] | undefined {
  const releases = hows.map((how, place) => releaseOf(format, place, how));
  const offered = releases.at(-1) as Release;
  const older = releases.slice(0, -1).filter((_release, place) => hows[place]?.isServable);
  const localVersion = from === null ? '' : (VERSIONS[from] ?? '');
  const request: ProtocolRequest = {
    application: 'desktop',
    channel: 'stable',
    headers: {},
    body: undefined,
    path: [format === 'squirrel' ? 'RELEASES' : 'releases.win.json'],
    query: { localVersion: format === 'squirrel' ? squirrelTextOf(localVersion) : localVersion },
  };
  const question = dialect.parseRequest(request);
  const listing: FeedListing = {
    platform: 'windows',
    arch: 'x64',
    formats: [format],
    release: offered,
    artifact: offered.artifacts[0] as Artifact,
    document: question?.document ?? '',
    olderReleases: older.toReversed(),
    fileUrl: (version, filename) => `https://example.com/${version}/${filename}`,
  };
  const files = releases.flatMap(({ version, artifacts }) =>
    artifacts.flatMap((artifact) => [
      { name: artifact.filename, isDelta: false, version, base: undefined },
      ...artifact.companions.map(({ filename, base }) => ({
        name: filename,
        isDelta: true,
        version,
        base,
      })),
    ]),
  );
  const names = namesIn(dialect, listing);
  return names?.map((name) => files.find((file) => file.name === name) as Listed);
}

function namesIn(dialect: FeedProtocol, listing: FeedListing): readonly string[] | undefined {
  try {
    const body = String(dialect.renderListing(listing).body);
    if (dialect === velopack) {
      return JSON.parse(body).Assets.map(({ FileName }: { FileName: string }) => FileName);
    }
    return body.split('\n').map((line) => {
      expect(line).toMatch(LINE);
      return LINE.exec(line)?.[2] ?? '';
    });
  } catch (error) {
    if (isAppError(error, 'no_release')) return undefined;
    throw error;
  }
}

/** The version to which the deltas lead that a client takes: every one that is newer than its version. */
function apply(listed: readonly Listed[], from: string, isNewer: Compare): string | undefined {
  let version = from;
  const deltas = listed.filter((each) => each.isDelta && isNewer(each.version, from));
  for (const delta of deltas.toSorted((a, b) => (isNewer(a.version, b.version) ? 1 : -1))) {
    if (delta.base !== version) return undefined;
    version = delta.version;
  }
  return version;
}

type Compare = (a: string, b: string) => boolean;

const DIALECTS: readonly (readonly [FeedProtocol, 'squirrel' | 'velopack', Compare])[] = [
  [
    squirrelWindows,
    'squirrel',
    (a, b) => compareSquirrelVersions(squirrelTextOf(a), squirrelTextOf(b)) > 0,
  ],
  [velopack, 'velopack', (a, b) => VERSIONS.indexOf(a) > VERSIONS.indexOf(b)],
];

describe.each(DIALECTS)('a document of $name', (dialect, format, isNewer) => {
  it('lists the offered package, and deltas only as an unbroken chain', () => {
    let chains = 0;
    fc.assert(
      fc.property(channel, ([hows, from]) => {
        const listed = list(dialect, format, hows, from);
        const newest = VERSIONS.at(-1) as string;
        expect(listed === undefined).toBe(hows.at(-1)?.hasSha1 === false);
        if (listed === undefined) return;
        expect(listed).not.toContain(undefined);
        const fulls = listed.filter(({ isDelta }) => !isDelta).map(({ version }) => version);
        const deltas = listed.filter(({ isDelta }) => isDelta);
        expect(fulls).toContain(newest);
        // Everything listed can be served, and has its hash.
        for (const { version } of listed) {
          const how = hows[VERSIONS.indexOf(version)];
          expect([version, how?.hasSha1]).toEqual([version, true]);
          if (version !== newest) expect([version, how?.isServable]).toEqual([version, true]);
        }
        expect(new Set(deltas.map(({ version }) => version)).size).toBe(deltas.length);
        if (from === null) {
          // A client of each listed version can take all that is newer.
          for (const full of fulls) expect(apply(listed, full, isNewer)).toBe(newest);
          expect(fulls).toHaveLength(deltas.length + 1);
        } else {
          expect(fulls).toEqual([newest]);
          if (deltas.length > 0) expect(apply(listed, VERSIONS[from] ?? '', isNewer)).toBe(newest);
        }
        chains += deltas.length > 1 ? 1 : 0;
      }),
      { numRuns: rounds(200, 1000) },
    );
    expect(chains).toBeGreaterThan(10);
  });

  it('lists the whole chain when every release has its delta', () => {
    const hows = VERSIONS.map(() => ({
      distances: [1],
      isServable: true,
      hasSha1: true,
      id: 'App',
    }));
    for (const [place] of VERSIONS.slice(0, -1).entries()) {
      const deltas = list(dialect, format, hows, place)?.filter(({ isDelta }) => isDelta) ?? [];
      const wanted = VERSIONS.slice(place + 1);
      expect(deltas.map(({ version }) => version).toSorted()).toEqual(wanted.toSorted());
    }
    expect(list(dialect, format, hows, null)).toHaveLength(2 * VERSIONS.length - 1);
  });
});
