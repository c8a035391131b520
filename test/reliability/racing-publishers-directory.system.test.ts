import path from 'node:path';
import { describe, it } from 'vitest';
import { openDirectoryStore } from '../support/directory-store.ts';
import { makeTemporaryDirectory } from '../support/release.ts';
import { type RaceDeps, racePlatforms, raceVersions } from './racing-publishers.ts';

const TIMEOUT_MS = 180_000;

describe('publishers in separate processes on a directory', () => {
  const inDirectory = async (run: (deps: RaceDeps) => Promise<void>) => {
    const temporary = await makeTemporaryDirectory();
    try {
      const data = path.join(temporary.path, 'data');
      const store = await openDirectoryStore(path.join(data, 'objects'));
      const directory = path.join(temporary.path, 'builds');
      await run({ name: 'directory', store, env: { DATA_DIR: data }, directory });
    } finally {
      await temporary.remove();
    }
  };
  it('lose no change', () => inDirectory(raceVersions), TIMEOUT_MS);
  it('publish many platforms of one release', () => inDirectory(racePlatforms), TIMEOUT_MS);
});
