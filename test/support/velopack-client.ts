import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** Velopack's real JavaScript client, a native module. */

export interface VelopackAsset {
  readonly PackageId: string;
  readonly Version: string;
  readonly Type: string;
  readonly FileName: string;
  readonly SHA1: string;
  readonly SHA256: string;
  readonly NotesMarkdown: string;
}

interface UpdateInfo {
  readonly TargetFullRelease: VelopackAsset;
  readonly IsDowngrade: boolean;
}

interface UpdateManager {
  checkForUpdatesAsync(): Promise<UpdateInfo | null>;
  downloadUpdateAsync(update: UpdateInfo): Promise<void>;
}

type Locator = Readonly<Record<string, string | boolean>>;
interface Options {
  readonly AllowVersionDowngrade: boolean;
  readonly ExplicitChannel: string | null;
}

const { UpdateManager, setVelopackLogger } = createRequire(import.meta.url)('velopack') as {
  readonly UpdateManager: new (url: string, options: Options, locator: Locator) => UpdateManager;
  readonly setVelopackLogger: (log: (level: string, message: string) => void) => void;
};
setVelopackLogger(() => {});

export interface VelopackUpdate {
  readonly asset: VelopackAsset;
  /** The file that the client has downloaded. */
  readonly file: { readonly name: string; readonly bytes: Buffer };
}

/** Checks as an installed version, and downloads what is offered; null: no update. */
export async function updateWithVelopack(
  directory: string,
  url: string,
  installed: { readonly version: string; readonly channel: string },
  options: Partial<Options> = {},
): Promise<VelopackUpdate | null> {
  const root = path.join(directory, `velopack ${Math.random().toString(36).slice(2)}`);
  const [packages, current] = [path.join(root, 'packages'), path.join(root, 'current')];
  for (const each of [packages, current]) await mkdir(each, { recursive: true });
  const [updater, manifest] = [path.join(root, 'Update'), path.join(current, 'sq.version')];
  await writeFile(updater, '');
  await writeFile(
    manifest,
    `<?xml version="1.0"?><package><metadata><id>App</id><version>${installed.version}</version><channel>${installed.channel}</channel><mainExe>App</mainExe></metadata></package>`,
  );
  const manager = new UpdateManager(
    url,
    { AllowVersionDowngrade: false, ExplicitChannel: null, ...options },
    {
      RootAppDir: root,
      UpdateExePath: updater,
      PackagesDir: packages,
      ManifestPath: manifest,
      CurrentBinaryDir: current,
      IsPortable: true,
    },
  );
  const update = await manager.checkForUpdatesAsync();
  if (update === null) return null;
  await manager.downloadUpdateAsync(update);
  // Beside its lock.
  const left = (await readdir(packages)).filter((each) => !each.startsWith('.'));
  const [name = '', ...others] = left;
  if (others.length > 0) throw new Error(`Velopack left ${others.join(', ')} beside ${name}.`);
  const bytes = await readFile(path.join(packages, name));
  return { asset: update.TargetFullRelease, file: { name, bytes } };
}
