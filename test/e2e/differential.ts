import path from 'node:path';
import { expect } from 'vitest';
import type { PublishRequest } from '../../src/releases/publish/publish-request.ts';
import {
  type ElectronBuild,
  editedBytes,
  type PackageKind,
  publishBuild,
  type ShippedBuild,
  seededBytes,
} from '../support/electron-build.ts';
import {
  createElectronClient,
  type Downloaded,
  type ElectronClient,
  type ElectronClientOptions,
} from '../support/electron-updater.ts';
import type { PublisherParts } from '../support/release.ts';
import type { TestService } from '../support/service.ts';

/**
 * Updates by the real electron-updater. It falls back from a differential download to the whole file without an error,
 * so the tests count the bytes that the client received.
 */

/** More than one part of an upload to S3. */
const BUILD_BYTES = 10 * 1024 * 1024;
const EDITS = 40;
/** The changed blocks are some 1.3 MB; the block maps and the headers of single ranges come on top. */
const DIFFERENCE_BYTES_MAX = 1.75 * 1024 * 1024;

export const OLD = seededBytes(BUILD_BYTES, 'build');
export const NEW = editedBytes(OLD, EDITS, 'next build');

export interface Releases {
  readonly old: ShippedBuild;
  readonly next: ShippedBuild;
}

/** Publishes 1.0.0 and 2.0.0 of one kind to stable. @param request for 2.0.0 */
export async function releaseTwo(
  service: TestService,
  kind: PackageKind,
  request: Partial<PublishRequest> = {},
): Promise<Releases> {
  const old = await release(service, { kind, version: '1.0.0', bytes: OLD });
  const next = await release(service, { kind, version: '2.0.0', bytes: NEW }, request);
  return { old, next };
}

/** Publishes 1.0.0 and 2.0.0 with a build of each kind, to every channel. */
export async function releaseEach<K extends PackageKind>(
  parts: PublisherParts & { readonly directory: string },
  kinds: readonly K[],
  channels: readonly string[],
): Promise<Record<K, Releases>> {
  const shipped = new Map<K, Releases>();
  for (const kind of kinds) {
    const at = { ...parts, directory: path.join(parts.directory, kind) };
    for (const channel of channels) {
      const old = await publishBuild(at, { kind, version: '1.0.0', bytes: OLD }, { channel });
      const next = await publishBuild(at, { kind, version: '2.0.0', bytes: NEW }, { channel });
      shipped.set(kind, { old, next });
    }
  }
  return Object.fromEntries(shipped) as Record<K, Releases>;
}

export async function release(
  service: TestService,
  build: ElectronBuild,
  request: Partial<PublishRequest> = {},
): Promise<ShippedBuild> {
  const shipped = await publishBuild(service, build, request);
  await service.refresh();
  return shipped;
}

/** A client of stable with 1.0.0, unless the options say otherwise. */
export async function openClient(
  service: Pick<TestService, 'listen'>,
  options: Pick<ElectronClientOptions, 'kind'> & Partial<ElectronClientOptions>,
): Promise<ElectronClient> {
  const url = `${await service.listen()}/feeds/desktop/stable/electron`;
  return createElectronClient({ url, version: '1.0.0', ...options });
}

export interface Update extends Downloaded {
  readonly client: ElectronClient;
  /** Bytes that the client received, for the check and the download. */
  readonly received: number;
}

/** Checks for an update, which must be `version`, and downloads it. */
export async function update(client: ElectronClient, version = '2.0.0'): Promise<Update> {
  expect(await client.check()).toBe(version);
  const downloaded = await client.download();
  const received = client.requests.reduce((sum, { bytes }) => sum + bytes, 0);
  return { ...downloaded, client, received };
}

export function expectDifferential({ client, received, bytes }: Update, next: Buffer): void {
  expect(bytes.equals(next)).toBe(true);
  expect(received, client.log.join('\n')).toBeLessThan(DIFFERENCE_BYTES_MAX);
}

/** The client downloaded the whole file, and says in its log why. */
export function expectWhole({ client, received, bytes }: Update, next: Buffer, why: RegExp): void {
  expect(bytes.equals(next)).toBe(true);
  expect(received).toBeGreaterThan(next.length);
  expect(client.log.join('\n')).toMatch(why);
}

/** Both ways in which electron-updater asks for ranges, as its configuration selects them. */
export const RANGE_MODES = [
  ['several ranges', {}],
  ['single ranges', { useMultipleRangeRequest: false }],
] as const;
