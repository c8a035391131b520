import { expect, it } from 'vitest';
import { mergeRelease } from '../../../src/releases/publish/merge-release.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService } from '../../support/service.ts';

it('adds the zsync file to a release that was published without one', async () => {
  const service = await createTestService();
  const appImage = await makeArtifact(service.directory, {
    ...{ platform: 'linux', format: 'appimage', filename: 'App-1.0.0.AppImage' },
  });
  const { release } = await publish(service, { version: '1.0.0', artifacts: [appImage] });
  const [artifact] = release.artifacts;
  expect(artifact?.companions).toMatchObject([
    { kind: 'zsync', filename: 'App-1.0.0.AppImage.zsync' },
  ]);
  const before = {
    ...release,
    artifacts: release.artifacts.map(({ sha1: _none, ...each }) => ({ ...each, companions: [] })),
  };
  const mine = {
    ...{ ...release, described: { name: null, notes: null }, notes: undefined },
    ...{ requires: undefined, mandatoryFor: undefined, statesTrustedKeys: false },
  };
  expect(mergeRelease(before, [before], mine)).toEqual(release);
  // Published again, with the same bytes: nothing changes.
  const again = await publish(service, { version: '1.0.0', artifacts: [appImage] });
  expect(again).toMatchObject({ changed: false, release: { artifacts: release.artifacts } });
  await service.close();
});
