import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from './child-process.ts';
import { versionAt } from './content.ts';
import type { BenchContext } from './context.ts';
import { withStores } from './stores.ts';
import type { Row, Table } from './table.ts';

/** Measures the import of all releases of a project on GitHub. */

const RELEASES = 1_000;
const SECONDS_MAX = { directory: 40, S3: 60 } as const;
const FILES = [
  'App-Setup-{version}-x64.exe',
  'App-{version}-arm64-mac.zip',
  'App-{version}-x64-mac.zip',
  'App-{version}-x86_64.AppImage',
  'app_{version}_amd64.deb',
];

export async function benchImport(context: BenchContext): Promise<readonly Table[]> {
  const source = await makeSource(await context.makeDirectory());
  const rows: Row[] = [];
  await withStores(context, async ({ name, env }) => {
    context.progress(`import: to ${name}`);
    const words = ['import', source, '--app', 'desktop', '--create', '--yes'];
    const { milliseconds, cpuMs, peakMib } = await runCommand(context, words, env);
    const value = milliseconds / 1000;
    const cells = [name, value.toFixed(1), (cpuMs / 1000).toFixed(1), peakMib.toFixed(0)];
    rows.push({ cells, target: { value, limit: { max: SECONDS_MAX[name] }, unit: ' s' } });
  });
  return [
    {
      title: `import: ${RELEASES} releases with ${RELEASES * FILES.length} small files`,
      heading: ['', 'seconds', 'processor seconds', 'MiB'],
      rows,
      notes: ['One run of `slipway import` from the releases of a project on GitHub.'],
    },
  ];
}

/** The list of releases as the API of GitHub answers it, newest first, and the files in a folder for each tag. */
async function makeSource(root: string): Promise<string> {
  const releases = [];
  for (let index = 0; index < RELEASES; index++) {
    const version = versionAt(index);
    const folder = path.join(root, `v${version}`);
    await mkdir(folder);
    const assets = [];
    for (const name of FILES.map((file) => file.replace('{version}', version))) {
      const content = `The bytes of ${name}.`;
      await writeFile(path.join(folder, name), content);
      assets.push({ name, size: content.length });
    }
    releases.unshift({
      tag_name: `v${version}`,
      name: `Release ${version}`,
      body: `Notes of ${version}`,
      draft: false,
      prerelease: false,
      published_at: new Date(Date.UTC(2020, 0, 1 + index)).toISOString(),
      assets,
    });
  }
  await writeFile(path.join(root, 'releases.json'), JSON.stringify(releases));
  return root;
}
