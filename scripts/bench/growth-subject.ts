import type { BenchContext } from './bench.ts';
import {
  type FilledApplication,
  fillApplication,
  offersMax,
  openDirectoryTarget,
} from './content.ts';
import type { Request, Traffic } from './load.ts';
import type { Environment } from './server.ts';

/** The stores that the growth benchmark compares, and the clients of their applications. */

export const CHANNELS = 10;
const RELEASES_EACH = 100;

/** A store of one size, and what was measured on it. */
export interface Subject {
  readonly name: string;
  readonly applications: number;
  /** Releases of each application. */
  readonly releases: number;
  readonly env: Environment;
  readonly filled: readonly FilledApplication[];
  readonly measured: Map<string, number[]>;
}

/** Applications, and releases of each. The second is what the others are compared with. */
export function sizesFor(releases: number): readonly (readonly [number, number])[] {
  return [
    [0, 0],
    [1, 10],
    [1, Math.ceil(releases / 10)],
    [1, releases],
    [Math.ceil(releases / RELEASES_EACH / 10), RELEASES_EACH],
    [Math.ceil(releases / RELEASES_EACH), RELEASES_EACH],
  ];
}

export async function fill(
  context: BenchContext,
  applications: number,
  releases: number,
): Promise<Subject> {
  const directory = await context.workspace.makeDirectory();
  const target = await openDirectoryTarget(directory);
  const each = Math.ceil(Math.min(releases, offersMax(releases)) / CHANNELS);
  const names = ['stable', 'beta', ...Array.from({ length: CHANNELS - 2 }, (_, i) => `team-${i}`)];
  const filled: FilledApplication[] = [];
  for (let index = 0; index < applications; index++) {
    const plan = {
      application: applicationAt(index),
      channels: Object.fromEntries(names.map((name) => [name, each])),
      retired: Math.max(0, releases - each * CHANNELS),
    };
    filled.push(await fillApplication(target, plan));
  }
  const name =
    applications === 0
      ? 'empty'
      : `${applications === 1 ? '' : `${applications.toLocaleString('en')} × `}${releases.toLocaleString('en')}`;
  return {
    ...{ name, applications, releases, filled },
    env: { DATA_DIR: directory },
    measured: new Map(),
  };
}

function applicationAt(index: number): string {
  return index === 0 ? 'desktop' : `desktop-${index}`;
}

export function record({ measured }: Subject, figure: string, value: number): void {
  measured.set(figure, [...(measured.get(figure) ?? []), value]);
}

/** A check of a client of any version; the answer offers an update to every version below 1.0.0. */
export function checkOf(application: number, version = '0.9.0', platform = 'macos'): Request {
  const app = applicationAt(application);
  const client = { current_version: version, platform, arch: 'x64', app };
  return {
    method: 'POST',
    path: '/api/v1/desktop/check-update',
    body: { ...client, installation_id: '{id}' },
    status: 200,
    contains: `"update_available":${version.startsWith('0.') ? 'true' : ''}`,
  };
}

/** Clients of every application and platform. */
export function mixOf(
  { applications }: Subject,
  count: number,
  versionOf: (index: number) => string,
): Traffic {
  const platforms = ['windows', 'macos', 'linux'];
  const requests = Array.from({ length: count }, (_, index) =>
    checkOf(index % applications, versionOf(index), platforms[index % platforms.length]),
  );
  return { requests, ids: count };
}
