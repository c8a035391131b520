import { createHash, sign } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BuiltArtifact } from '../../builds/build-output.ts';
import { readBuildOutput } from '../../builds/read-build-output.ts';
import type { DemoApplication, DemoFile, PublishStep } from './demo-application.ts';
import { demoKey, minisignKeyOf, rawPublicKey, signMinisign } from './sign-build.ts';

const FILE_BYTES_MIN = 2_000;
const FILE_BYTES_MORE = 4_000;
const KEY_ID = 0x51_1b_ab_1e;
/** The formats that Tauri signs. */
const TAURI_SIGNED: ReadonlySet<string> = new Set(['nsis', 'tar.gz', 'appimage']);

const keyTextOf = ({ name }: DemoApplication): string => `slipway demo ${name}`;

/** The public key of the application's builds, in the form that `slipway apps set` accepts. */
export function publicKeyOf(application: DemoApplication): string {
  const key = demoKey(keyTextOf(application));
  return application.signatures === 'tauri'
    ? minisignKeyOf(key, KEY_ID).pubkey
    : rawPublicKey(key).toString('base64');
}

/**
 * Writes the files of a build, as a build tool does, and reads them as `slipway publish` does.
 *
 * @param directory the directory of all builds
 * @param isSigned true when the files have signatures
 */
export async function writeBuild(
  directory: string,
  application: DemoApplication,
  { version, platforms }: PublishStep,
  isSigned: boolean,
): Promise<readonly BuiltArtifact[]> {
  const folder = path.join(directory, application.name, version);
  await mkdir(folder, { recursive: true });
  const paths: string[] = [];
  for (const file of application.files) {
    if (platforms?.includes(file.platform) === false) continue;
    const name = file.name.replace('{version}', version);
    const bytes = contentOf(application, version, name);
    await writeFile(path.join(folder, name), bytes);
    const built = { path: path.join(folder, name), bytes, version, ...file };
    if (isSigned) await writeSignature(application, built);
    paths.push(describe(path.join(folder, name), file));
  }
  return (await readBuildOutput({ paths, version })).artifacts;
}

/**
 * The bytes of a file: a line of text, and then bytes that look like a compressed program. The same name gives the same
 * bytes.
 */
function contentOf({ title }: DemoApplication, version: string, name: string): Buffer {
  const line = Buffer.from(`${title} ${version}: ${name}, made by "slipway demo --store".\n`);
  const size =
    FILE_BYTES_MIN + (createHash('sha256').update(name).digest().readUInt16BE() % FILE_BYTES_MORE);
  const noise = createHash('shake256', { outputLength: size }).update(line).digest();
  return Buffer.concat([line, noise]);
}

function describe(file: string, { platform, arch, format, minimumOsVersion }: DemoFile): string {
  const minimum = minimumOsVersion === undefined ? '' : `,minimum_os_version=${minimumOsVersion}`;
  return `${file},os=${platform},arch=${arch},format=${format}${minimum}`;
}

async function writeSignature(
  application: DemoApplication,
  file: Pick<DemoFile, 'format'> & Record<'path' | 'version', string> & { readonly bytes: Buffer },
): Promise<void> {
  const key = demoKey(keyTextOf(application));
  if (application.signatures === 'sparkle') {
    await writeFile(`${file.path}.edSignature`, sign(null, file.bytes, key).toString('base64'));
  }
  if (application.signatures === 'tauri' && TAURI_SIGNED.has(file.format)) {
    const comment = `timestamp:1\tfile:${path.basename(file.path)}\tversion:${file.version}`;
    const text = signMinisign(minisignKeyOf(key, KEY_ID), file.bytes, { comment });
    await writeFile(`${file.path}.sig`, text);
  }
}
