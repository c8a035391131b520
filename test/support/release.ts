import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BuiltArtifact, InsideFacts } from '../../src/builds/build-output.ts';
import type { Trust } from '../../src/catalog/trust/trust.ts';
import type { Clock, Randomness } from '../../src/core/clock.ts';
import { publishRelease } from '../../src/releases/publish/publish-release.ts';
import type { PublishRequest, PublishResult } from '../../src/releases/publish/publish-request.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';

/** Creates a temporary directory. The test calls `remove` at its end. */
export async function makeTemporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'slipway-test-'));
  // A service that was just stopped may still save its catalog there, so that the directory is not empty at first.
  const options = { recursive: true, force: true, maxRetries: 5 };
  return { path: directory, remove: () => rm(directory, options) };
}

/** Writes a file, and describes it as `readBuildOutput` does. */
export async function makeArtifact(
  directory: string,
  artifact: Partial<BuiltArtifact> & InsideFacts & { content?: string | Uint8Array } = {},
): Promise<BuiltArtifact> {
  const { content = 'the program', signing, versionInside, ...stated } = artifact;
  const filename = stated.filename ?? 'App-Setup.exe';
  const file = path.join(directory, filename);
  await mkdir(directory, { recursive: true });
  await writeFile(file, content);
  return {
    path: file,
    filename,
    size: Buffer.byteLength(content),
    stated: [],
    platform: 'windows',
    arch: 'x64',
    format: 'nsis',
    hasUnversionedName: false,
    needsBlockmap: false,
    minimumOsVersion: null,
    signatures: [],
    companions: [],
    readInside: async () => ({ signing, versionInside }),
    ...stated,
  };
}

export interface PublisherParts {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly skipCorrupt?: readonly number[];
  readonly trust?: Trust | undefined;
}

/** Publishes to the channel stable of the application desktop, unless the request says otherwise. */
export function publish(
  parts: PublisherParts,
  request: Partial<PublishRequest> & Pick<PublishRequest, 'version' | 'artifacts'>,
): Promise<PublishResult> {
  return publishRelease(
    { ...parts, actor: 'test', ensureConforming: async () => {}, onProgress: () => {} },
    {
      application: 'desktop',
      channel: 'stable',
      create: true,
      allowPrerelease: true,
      provenance: { commit: null, buildUrl: null },
      ...request,
    },
  );
}
