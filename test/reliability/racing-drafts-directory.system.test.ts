import path from 'node:path';
import { expect, it } from 'vitest';
import { readManifest, readRevision } from '../../src/catalog/reading/read.ts';
import { openDirectoryStore } from '../support/directory-store.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { rounds } from '../support/rounds.ts';
import { startCli } from './run-child.ts';

/** Three CI jobs, each a process of its own, publish one release at the same moment. */

const ROUNDS = rounds(2, 40);
const JOBS = [
  ['App.exe', 'os=windows,arch=x64,format=nsis'],
  ['App.zip', 'os=macos,arch=arm64,format=zip'],
  ['App.AppImage', 'os=linux,arch=x64,format=appimage'],
] as const;
const EXPECT = 'windows-x64,macos-arm64,linux-x64';

it('offer it at once, exactly once, with every build', async () => {
  const temporary = await makeTemporaryDirectory();
  try {
    const data = path.join(temporary.path, 'data');
    for (const [filename] of JOBS) {
      await makeArtifact(temporary.path, { filename, content: filename });
    }
    const versions = Array.from({ length: ROUNDS }, (_, round) => `1.${round}.0`);
    const seen: string[] = [];
    for (const version of versions) {
      const jobs = JOBS.map(([filename, facts]) => {
        const file = `${path.join(temporary.path, filename)},${facts}`;
        const words = ['publish', version, file, '--expect', EXPECT, '--create', '--json'];
        return startCli(words, { DATA_DIR: data }).finished;
      });
      const finished = await Promise.all(jobs);
      for (const { code, stderr } of finished) expect(code, stderr).toBe(0);
      const results = finished.map(({ stdout }) => JSON.parse(stdout));
      const opened = results.filter(({ status, changed }) => status === 'active' && changed);
      expect(opened, version).toHaveLength(1);
      seen.push(
        results
          .map(({ status, changed }) => `${status}${changed ? '' : ' unchanged'}`)
          .sort()
          .join(', '),
      );
    }

    const store = await openDirectoryStore(path.join(data, 'objects'));
    const newest = await readRevision({ store }, 'desktop');
    const offered = new Map<string, number[]>();
    for (let number = 1; number <= (newest?.signed.revision ?? 0); number++) {
      const revision = await readRevision({ store }, 'desktop', number);
      const { change, channels } = revision?.signed ?? {};
      for (const offer of channels?.stable?.offers ?? []) {
        // Whole in every revision that lists it.
        expect(offer.artifacts, `${offer.version} in revision ${number}`).toHaveLength(3);
      }
      if (change?.kind === 'publish') {
        offered.set(String(change.version), [
          ...(offered.get(String(change.version)) ?? []),
          number,
        ]);
      }
    }
    expect([...offered].map(([version, numbers]) => [version, numbers.length])).toEqual(
      versions.map((version) => [version, 1]),
    );
    expect(newest?.signed.channels.stable).not.toHaveProperty('drafts');
    for (const { version, manifest } of newest?.signed.channels.stable?.offers ?? []) {
      const { release } = await readManifest({ store }, 'desktop', version, manifest);
      expect(release.artifacts.map(({ filename }) => filename).sort()).toEqual(
        JOBS.map(([filename]) => filename).sort(),
      );
    }
    console.log(
      `racing CI jobs: ${ROUNDS} releases of 3 processes, each offered once and whole: ${seen.join('; ')}`,
    );
  } finally {
    await temporary.remove();
  }
}, 180_000);
