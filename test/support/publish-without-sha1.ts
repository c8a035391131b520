import type { BuiltArtifact } from '../../src/builds/build-output.ts';
import { hashArtifacts } from '../../src/releases/files/hash-artifacts.ts';
import { commitRelease } from '../../src/releases/publish/commit-release.ts';
import { publishOf } from '../../src/releases/publish/publish-request.ts';
import { uploadArtifacts } from '../../src/releases/publish/upload-artifacts.ts';
import type { PublisherParts } from './release.ts';

/** Publishes to the channel stable of the application desktop, as before the service stored SHA-1. */
export async function publishWithoutSha1(
  parts: PublisherParts,
  version: string,
  built: readonly BuiltArtifact[],
): Promise<void> {
  const deps = { ...parts, actor: 'test', onProgress: () => {} };
  const hashed = await hashArtifacts(deps, built, false, []);
  const uploaded = await uploadArtifacts(deps, 'desktop', hashed, []);
  const artifacts = uploaded.map(({ artifact: { sha1: _sha1, ...artifact } }) => ({
    ...artifact,
    companions: artifact.companions.map(({ sha1: _own, ...companion }) => companion),
  }));
  const request = {
    ...{ application: 'desktop', channel: 'stable', version, create: true, allowPrerelease: true },
    ...{ artifacts: built, provenance: { commit: null, buildUrl: null } },
  };
  const publish = publishOf(deps, request, { artifacts, carried: [] });
  await commitRelease(deps, publish, { isListed: false, ensureSigned: async () => {} });
}
