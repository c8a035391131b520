import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { openService } from '../../../src/app.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { changeStatus, type StatusVerb } from '../../../src/releases/withdraw/change-status.ts';
import { type Finished, json, slipway } from '../../cli/support.ts';
import { publishBuild, seededBytes } from '../../support/electron-build.ts';
import { type MinisignKey, makeMinisignKey, signMinisign } from '../../support/minisign-key.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';

/** A service with releases of every kind, and its export. */

const TIERS = JSON.stringify({ free: [], pro: ['channel:desktop/insider'] });
export const PUBLIC_URL = 'https://updates.example.com/base';

export interface Scene {
  readonly service: TestService;
  readonly env: Readonly<Record<string, string>>;
  /** The directory of the export. */
  readonly target: string;
  release(version: string, request?: Partial<PublishRequest>): Promise<void>;
  releaseTauri(version: string, request?: Partial<PublishRequest>): Promise<void>;
  change(verb: StatusVerb, version: string): Promise<void>;
  run(words?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished>;
}

export async function createScene(publicUrl = PUBLIC_URL): Promise<Scene> {
  const settings = { TIERS, PUBLIC_URL: publicUrl };
  const service = await createTestService({ store: 'directory', env: settings });
  const target = path.join(service.directory, 'public');
  const env = { DATA_DIR: service.config.dataDirectory, ...settings };
  const key = makeMinisignKey(7);
  return {
    service,
    env,
    target,
    release: async (version, request) => {
      for (const kind of ['nsis', 'mac', 'appimage'] as const) {
        const bytes = seededBytes(40_000, `${kind} ${version}`);
        const directory = path.join(service.directory, kind);
        await publishBuild({ ...service, directory }, { kind, version, bytes }, request);
      }
      await service.refresh();
    },
    releaseTauri: async (version, request = {}) => {
      const artifacts = await tauriArtifacts(service.directory, key, version);
      await publish(service, { application: 'notes', version, artifacts, ...request });
      await service.refresh();
    },
    change: async (verb, version) => {
      const asked = { application: 'desktop', version, channel: undefined, reason: 'a test' };
      await changeStatus({ ...service, actor: 'test' }, verb, asked);
      await service.refresh();
    },
    run: (words = [target], more = {}) =>
      slipway(['export', ...words], { cwd: service.directory, env: { ...env, ...more } }),
  };
}

/** For an export in this process. */
export const exportDeps = ({ service, env }: Scene) => ({
  ...service,
  environment: env,
  loadService: async () => openService,
});

function tauriArtifacts(directory: string, key: MinisignKey, version: string) {
  const files = [
    {
      platform: 'windows',
      arch: 'x64',
      format: 'nsis',
      filename: `Notes_${version}_x64-setup.exe`,
    },
    { platform: 'linux', arch: 'x64', format: 'appimage', filename: `notes_${version}.AppImage` },
    { platform: 'linux', arch: 'x64', format: 'deb', filename: `notes_${version}_amd64.deb` },
    { platform: 'macos', arch: 'universal', format: 'tar.gz', filename: 'Notes.app.tar.gz' },
  ] as const;
  return Promise.all(
    files.map(async (file) => {
      const content = `${file.filename} of ${version}`;
      const comment = `timestamp:1\tfile:${file.filename}\tversion:${version}`;
      const value = signMinisign(key, content, { comment });
      const signatures = [{ scheme: 'minisign' as const, keyId: key.keyId, value }];
      const below = path.join(directory, `notes ${version}`);
      return makeArtifact(below, { ...file, content, signatures });
    }),
  );
}

/** Of what `--json` printed. */
export interface Reported {
  readonly written: {
    readonly documents: number;
    readonly files: number;
    readonly bytes: number;
  };
  readonly unchanged: number;
  readonly removed: readonly string[];
  readonly left_out: readonly {
    readonly reason: string;
    readonly app: string;
    readonly channel: string | null;
    readonly dialect: string | null;
    readonly versions: readonly string[];
  }[];
}

export async function exported(
  scene: Scene,
  words: readonly string[] = [scene.target],
): Promise<Reported> {
  const finished = await scene.run([...words, '--json']);
  if (finished.code !== 0) throw new Error(finished.stderr);
  return json(finished);
}

/** The files of a target by their paths, without those that the export keeps for itself. */
export async function filesIn(directory: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(directory, file);
    if (entry.isFile() && !name.startsWith('.slipway-export'))
      files.set(name, await readFile(file));
  }
  return files;
}
