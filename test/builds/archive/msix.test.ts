import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBuildOutput } from '../../../src/builds/read-build-output.ts';
import { summarise, temporaryDirectory, zip } from '../materialize.ts';

/** The architecture of MSIX packages is in their manifests, as the Windows SDK's `makeappx` writes them. */

function packaged(architecture: string | undefined, name = 'AppxManifest.xml'): Buffer {
  const stated = architecture === undefined ? '' : ` ProcessorArchitecture="${architecture}"`;
  const manifest = `\uFEFF<?xml version="1.0" encoding="utf-8"?>
<Package xmlns="http://schemas.microsoft.com/appx/manifest/foundation/windows10" xmlns:uap="http://schemas.microsoft.com/appx/manifest/uap/windows10" IgnorableNamespaces="uap">
  <Identity Name="Notes" Publisher="CN=Example &amp; Co"${stated} Version="1.0.0.0" />
  <Applications><Application Id="Notes" Executable="Notes.exe" /></Applications>
</Package>`;
  return zip([
    ['Notes.exe', Buffer.from('a program')],
    [name, Buffer.from(manifest)],
  ]);
}

/** @param packages of each package: its type and its architecture */
function bundled(...packages: readonly (readonly [string | undefined, string | undefined])[]) {
  const listed = packages.map(([type, architecture], index) => {
    const facts = { Type: type, Architecture: architecture, FileName: `Notes_${index}.msix` };
    const attributes = Object.entries(facts).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}="${value}"`],
    );
    return `<Package ${attributes.join(' ')} Version="1.0.0.0" Offset="${index}" Size="1" />`;
  });
  const manifest = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<Bundle xmlns="http://schemas.microsoft.com/appx/2013/bundle" SchemaVersion="5.0">
  <Identity Name="Notes" Publisher="CN=Example" Version="1.0.0.0" />
  <Packages>${listed.join('')}</Packages>
</Bundle>`;
  return zip([['AppxMetadata/AppxBundleManifest.xml', Buffer.from(manifest)]]);
}

async function read(file: string, bytes: Buffer): Promise<string> {
  const root = await temporaryDirectory();
  const path = join(root, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  try {
    const output = await readBuildOutput({ paths: [root], version: '1.0.0' });
    return summarise(output).join('\n');
  } catch (error) {
    return error instanceof Error ? error.message.slice(path.length) : String(error);
  }
}

describe('an MSIX package', () => {
  it.each([
    ['Notes.msix', packaged('x64'), 'x64'],
    ['Notes 1.0.0.appx', packaged('arm64'), 'arm64'],
    ['Notes.msix', packaged('x86'), 'ia32'],
    ['Notes.msix', packaged('neutral'), 'universal'],
    ['Notes.msix', packaged(undefined), 'universal'],
    ['Notes-1.0.0-x64.msix', packaged('neutral'), 'x64'],
    ['make/msix/arm64/Notes.msix', packaged('arm64'), 'arm64'],
  ])('%s is for the processor that its manifest states', async (name, bytes, arch) => {
    expect(await read(name, bytes)).toBe(`windows-${arch}-msix ${name.replace(/.*\//, '')}`);
  });

  it('is refused when its name contradicts its manifest', async () => {
    expect(await read('Notes-1.0.0-x64.msix', packaged('arm64'))).toMatch(
      /its name says x64, its manifest says arm64/,
    );
  });

  it.each([
    ['no zip', Buffer.from('no zip'), 'it is not a zip archive'],
    ['without a manifest', packaged('x64', 'Other.xml'), 'it has no AppxManifest.xml'],
    ['with a broken manifest', zip([['AppxManifest.xml', Buffer.from('<a>')]]), 'its manifest'],
    ['for another processor', packaged('x86a64'), 'its arch'],
  ])('%s needs its architecture stated', async (_what, bytes, why) => {
    const message = await read('Notes.msix', bytes);
    expect(message).toMatch(/its arch \(processor architecture\) is unclear.*arch=…/);
    expect(message).toContain(why);
  });
});

describe('an MSIX bundle', () => {
  const both = bundled(['application', 'x64'], [undefined, 'arm64'], ['resource', undefined]);

  it.each([
    ['Notes.msixbundle', both, 'universal'],
    ['Notes_1.0.0.0_x64_arm64.msixbundle', both, 'universal'],
    ['Notes.appxbundle', bundled(['application', 'x64'], ['resource', 'neutral']), 'x64'],
  ])('%s is for the processors of its packages', async (name, bytes, arch) => {
    expect(await read(name, bytes)).toBe(`windows-${arch}-msix ${name}`);
  });
});
