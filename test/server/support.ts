import path from 'node:path';
import { expect } from 'vitest';
import { AppError, type ErrorCode } from '../../src/core/errors.ts';
import type { Arch, Format, Platform } from '../../src/domain/platform.ts';
import { changeSettings } from '../../src/releases/applications/change-settings.ts';
import type { PublishRequest } from '../../src/releases/publish/publish-request.ts';
import { changeStatus, type StatusVerb } from '../../src/releases/withdraw/change-status.ts';
import { problemSchema } from '../../src/server/http/error-responses.ts';
import type { Load } from '../../src/server/limits/load.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
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

/** Sets the display name of an application, and makes the service see it; null removes it. */
export async function setDisplayName(
  service: TestService,
  displayName: string | null,
  application = 'desktop',
): Promise<void> {
  const stated = { displayName };
  await changeSettings({ ...service, actor: 'test' }, { application, stated, reason: null });
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
    open: (key, options) => guarded(() => store.open(key, options)),
    presign: (request) => guarded(() => store.presign(request)),
  };
  return {
    store: breakable,
    failWith: (failure: ErrorCode | undefined) => {
      code = failure;
    },
  };
}

/** The load of a service, which a test switches. Only `server/health.test.ts` waits for real load. */
export function createSwitchedLoad(): Load & { set(isTooMuch: boolean): void } {
  let isOverloaded = false;
  return {
    isTooMuch: () => isOverloaded,
    stop: () => {},
    set: (isTooMuch) => {
      isOverloaded = isTooMuch;
    },
  };
}

interface Operation {
  readonly tags?: readonly string[];
  readonly responses: Readonly<Record<string, { readonly content?: ProblemContent }>>;
}

interface ProblemContent {
  readonly 'application/problem+json'?: {
    readonly schema: { readonly properties: { readonly code: { readonly enum: string[] } } };
  };
}

interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Every `status code` that the document lists for an operation. */
function documentedErrors({ responses }: Operation): string[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { content }]) => {
      const codes = content?.['application/problem+json']?.schema.properties.code.enum ?? [];
      return codes.map((code) => `${status} ${code}`);
    });
}

/** Produces errors and records them, to compare them with an OpenAPI document in both directions. */
export function createErrorLedger() {
  /** `GET /path` → `status code`s. */
  const produced = new Map<string, Set<string>>();
  return {
    /** @param operation as documented: `GET /api/v1/desktop/download/{platform}` */
    produce: async (
      service: Pick<TestService, 'app'>,
      operation: string,
      status: number,
      code: ErrorCode,
      request: Readonly<Record<string, unknown>> = {},
    ): Promise<void> => {
      const [method = '', path = ''] = operation.split(' ');
      const { http } = service.app;
      const response = await http.inject({ method, url: path, ...request } as never);
      const body = response.body === '' ? {} : response.json();
      const what = `${operation} ${JSON.stringify(request).slice(0, 300)}`;
      expect([response.statusCode, body.code], what).toEqual([status, code]);
      expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(response.headers['cache-control']).toBe('no-store');
      expect(problemSchema.parse(body)).toMatchObject({
        type: `urn:slipway:problem:${code}`,
        status,
        request_id: response.headers['x-request-id'],
      });
      const retryAfter = response.headers['retry-after'];
      if ([429, 502, 503].includes(status)) expect(Number(retryAfter), what).toBeGreaterThan(0);
      else expect(retryAfter).toBeUndefined();
      expect(response.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
      if (status === 503) expect(response.body, what).not.toMatch(/10\.0\.0\.7|private/);
      const codes = produced.get(operation) ?? new Set();
      produced.set(operation, codes.add(`${status} ${code}`));
    },

    /**
     * Expects that the operations of a route together document exactly the errors that were produced of the route. A
     * route that answers many addresses has an operation for each.
     *
     * @param route as it was produced
     * @param belongs whether an operation, such as `GET /tuf/{app}/timestamp.json`, is answered by the route
     */
    expectDocumentedTogether: (
      document: OpenapiDocument,
      route: string,
      belongs: (operation: string) => boolean,
    ): void => {
      const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([method]) => belongs(`${method.toUpperCase()} ${path}`))
          .map(([, operation]) => operation),
      );
      expect(operations.length).toBeGreaterThan(0);
      const documented = [...new Set(operations.flatMap(documentedErrors))].sort();
      expect([...(produced.get(route) ?? [])].sort(), route).toEqual(documented);
    },

    /**
     * Expects that every operation with one of the tags documents exactly the errors that were produced.
     *
     * @param covers by default every operation with the tags
     */
    expectDocumented: (
      document: OpenapiDocument,
      tags: readonly string[],
      covers: (operation: string) => boolean = () => true,
    ): void => {
      const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods)
          .filter(([, operation]) => operation.tags?.some((tag) => tags.includes(tag)))
          .map(([method, operation]) => ({
            name: `${method.toUpperCase()} ${path}`,
            documented: documentedErrors(operation),
          }))
          .filter(({ name }) => covers(name)),
      );
      expect(operations.length).toBeGreaterThan(0);
      for (const { name, documented } of operations) {
        expect([...(produced.get(name) ?? [])].sort(), name).toEqual(documented.sort());
      }
    },
  };
}
