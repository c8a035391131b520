import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../src/clock.ts';
import type { Arch, Format, Platform } from '../../src/domain/platform.ts';
import { AppError, type ErrorCode } from '../../src/errors.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { changeStatus, type StatusVerb } from '../../src/operations/change-status.ts';
import type { PublishRequest } from '../../src/operations/publish-release.ts';
import { systemClock } from '../../src/system.ts';
import { makeArtifact, publish } from '../support/release.ts';
import type { TestService } from '../support/service.ts';

/** What the tests of the routes share: short ways to publish, to ask and to break things. */

export const CHECK_UPDATE = '/api/v1/desktop/check-update';
export const LATEST_VERSION = '/api/v1/desktop/latest-version';
export const DOWNLOAD = '/api/v1/desktop/download';

/** `windows x64 nsis`, with what else is stated of the artifact. */
type Machine =
  | string
  | (NonNullable<Parameters<typeof makeArtifact>[1]> & { readonly machine: string });

/** Publishes a release of small files named after version and machine, and makes the service see it. */
export async function release(
  service: TestService,
  version: string,
  machines: readonly Machine[],
  request: Partial<PublishRequest> = {},
): Promise<void> {
  const directory = path.join(service.directory, 'builds', request.application ?? '', version);
  const artifacts = machines.map((entry) => {
    const { machine, ...stated } = typeof entry === 'string' ? { machine: entry } : entry;
    const [platform, arch, format] = machine.split(' ') as [Platform, Arch, Format];
    const name = `App-${version}-${platform}-${arch}.${format}`;
    const filename = stated.filename ?? name;
    return makeArtifact(directory, {
      platform,
      arch,
      format,
      content: `bytes of ${name}`,
      ...stated,
      filename,
    });
  });
  await publish(service, { version, artifacts: await Promise.all(artifacts), ...request });
  await service.refresh();
}

export async function setStatus(
  service: TestService,
  verb: StatusVerb,
  version: string,
  channel?: string,
): Promise<void> {
  await changeStatus({ ...service, actor: 'test' }, verb, {
    application: 'desktop',
    version,
    channel,
    reason: null,
  });
  await service.refresh();
}

export async function check(service: TestService, body: object) {
  const response = await service.app.http.inject({
    method: 'POST',
    url: CHECK_UPDATE,
    payload: { current_version: '1.0.0', platform: 'windows', arch: 'x64', ...body },
  });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

export async function get(service: TestService, url: string, headers: Record<string, string> = {}) {
  const response = await service.app.http.inject({ url, headers });
  const isJson = /json/.test(String(response.headers['content-type']));
  const body = isJson ? response.json() : response.body;
  return { status: response.statusCode, headers: response.headers, body };
}

/** The real time, and whatever it was moved ahead by. */
export function createShiftedClock(): Clock & { advance(ms: number): void } {
  let ahead = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    advance: (ms) => {
      ahead += ms;
    },
  };
}

/** A store that can be told to fail from now on. */
export function createBreakableStore(store: ObjectStore) {
  let code: ErrorCode | undefined;
  const guarded = async <T>(call: () => Promise<T>): Promise<T> => {
    if (code !== undefined) throw new AppError(code, 'http://10.0.0.7:9000/private is broken.');
    return call();
  };
  const breakable: ObjectStore = {
    ...store,
    get: (key, options) => guarded(() => store.get(key, options)),
    head: (key, options) => guarded(() => store.head(key, options)),
    read: (key, options) => guarded(() => store.read(key, options)),
    presign: (request) => guarded(() => store.presign(request)),
  };
  return {
    store: breakable,
    failWith: (failure: ErrorCode | undefined) => {
      code = failure;
    },
  };
}

/** Keeps the event loop so busy that every turn of it takes seconds. */
export async function overload(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    const until = performance.now() + 1_300;
    while (performance.now() < until);
    await setImmediate();
  }
}
