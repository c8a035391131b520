import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Updater } from 'tuf-js';
import { expect, it } from 'vitest';
import { openService } from '../../../src/app.ts';
import { exportStatic } from '../../../src/features/export/export-static.ts';
import { createStaticDirectory } from '../../../src/store/static-target/static-directory.ts';
import { makeArtifact, makeTemporaryDirectory } from '../../support/release.ts';
import { createSignedService } from '../../support/signed-service.ts';
import { startStaticServer } from '../../support/static-server.ts';

/** A client of TUF verifies an export behind a plain static server, while the service is switched off. */

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

it('a signed export can be verified from the root to the bytes of a file', async () => {
  const temporary = await makeTemporaryDirectory();
  const signed = await createSignedService();
  const publicUrl = 'https://updates.example.com';
  const target = path.join(temporary.path, 'public');
  const half = { rollout: { text: '50%', freezeWindows: [] } };
  const build = (version: string) =>
    makeArtifact(temporary.path, { filename: `App-${version}.exe`, content: version });
  const exportAgain = () =>
    exportStatic(
      {
        ...signed.service,
        environment: { TRUST_ROOT: signed.rootFile },
        loadService: async () => openService,
        target: createStaticDirectory(target, './public'),
        onProgress: () => {},
      },
      { publicUrl, application: undefined, withAliases: false, also: [], isDryRun: false },
    );
  const server = await startStaticServer(target);
  const ask = (name: string) => fetch(`${server.url}/tuf/desktop/${name}`);
  try {
    await signed.publish({ version: '1.0.0', artifacts: [await build('1.0.0')] });
    await exportAgain();
    await signed.publish({ version: '1.1.0', artifacts: [await build('1.1.0')], ...half });
    const result = await exportAgain();
    // The metadata of the first export are replaced, and nothing else is removed.
    expect(
      result.removed.filter((each) => !/^tuf\/.*\.(snapshot|channel-stable)\.json$/.test(each)),
    ).toEqual([]);
    const again = await exportAgain();
    expect([again.documents, again.files]).toEqual([0, 0]);

    const metadataDir = path.join(temporary.path, 'metadata');
    await mkdir(metadataDir);
    await writeFile(path.join(metadataDir, 'root.json'), await readFile(signed.rootFile));
    const client = new Updater({
      metadataDir,
      metadataBaseUrl: `${server.url}/tuf/desktop`,
      targetDir: metadataDir,
      targetBaseUrl: `${server.url}/tuf/desktop/targets`,
    });
    const found = await client.getTargetInfo('desktop/stable/1.0.0/1.json');
    if (found === undefined) throw new Error('The client knows no such target.');
    const manifest = await readFile(await client.downloadTarget(found));
    const [artifact] = JSON.parse(manifest.toString()).signed.artifacts;
    const address = `targets/desktop/stable/1.0.0/${artifact.sha256}.${artifact.filename}`;
    expect(sha256(await (await ask(address)).bytes())).toBe(artifact.sha256);
    // A release that only some clients get is named by the metadata, and is not in the export.
    const held = await client.getTargetInfo('desktop/stable/1.1.0/1.json');
    expect((await ask(`targets/desktop/stable/1.1.0/${held?.hashes.sha256}.1.json`)).status).toBe(
      404,
    );
  } finally {
    await server.close();
    await signed.close();
    await temporary.remove();
  }
});
