import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildClient } from '../../scripts/build/client.ts';
import { ROOT } from '../cli/support.ts';
import { makeArtifact, makeTemporaryDirectory } from '../support/release.ts';
import { createSignedService, type SignedService } from '../support/signed-service.ts';

/** The examples, with the built client as applications get it. */

const temporary = await makeTemporaryDirectory();
let signed: SignedService;
let url: string;

/** The places of other versions of Node, where a machine has them. */
const NODES = ['/usr/bin/node', '/usr/local/bin/node'];

beforeAll(async () => {
  signed = await createSignedService();
  url = await signed.service.listen();
  const file = { platform: 'linux', arch: 'x64', format: 'appimage' } as const;
  const filename = 'App-2.0.0.AppImage';
  const artifact = await makeArtifact(temporary.path, { ...file, filename, content: 'version 2' });
  await signed.publish({ version: '2.0.0', artifacts: [artifact] });
  const packaged = path.join(temporary.path, 'node_modules/slipway');
  await mkdir(path.join(packaged, 'dist/client'), { recursive: true });
  await cp(path.join(ROOT, 'package.json'), path.join(packaged, 'package.json'));
  for (const [name, text] of await buildClient()) {
    await writeFile(path.join(packaged, 'dist/client', name), text);
  }
  await symlink(
    path.join(ROOT, 'node_modules/electron-updater'),
    path.join(temporary.path, 'node_modules/electron-updater'),
  );
});
afterAll(async () => {
  await signed.close();
  await temporary.remove();
});

/** Copies an example beside the packages, with the root of the application. */
async function install(name: string): Promise<string> {
  const folder = path.join(temporary.path, name);
  await cp(path.join(ROOT, 'examples', name), folder, { recursive: true });
  await cp(signed.rootFile, path.join(folder, 'root.json'));
  return folder;
}

async function run(program: string, args: readonly string[], env: Record<string, string> = {}) {
  const options = { env: { PATH: process.env.PATH, UPDATES_URL: url, ...env } };
  const { stdout, stderr } = await promisify(execFile)(program, [...args], options).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return stdout + stderr;
}

describe('node-verified', () => {
  it('downloads a verified update, and refuses a root of other keys', async () => {
    const folder = await install('node-verified');
    const script = path.join(folder, 'update.mjs');
    const env = { UPDATES_CACHE: path.join(temporary.path, 'node-cache') };
    const output = await run(process.execPath, [script], env);
    expect(output).toContain('2.0.0 is offered, and the keys of the channel signed it');
    const file = /verified: (.+)/.exec(output)?.[1] ?? '';
    expect(await readFile(file, 'utf8')).toBe('version 2');
    const other = await createSignedService();
    await cp(other.rootFile, path.join(folder, 'root.json'));
    await other.close();
    expect(await run(process.execPath, [script], env)).toContain('no update (metadata_rejected)');
  });

  it('runs on the oldest Node of this machine as well', async () => {
    const folder = await install('node-verified');
    const env = { UPDATES_CACHE: path.join(temporary.path, 'old-node-cache') };
    const versions = await Promise.all(
      [process.execPath, ...NODES].map(async (node) => ({
        node,
        version: await run(node, ['--version']).catch(() => ''),
      })),
    );
    for (const { node, version } of versions) {
      if (!/^v2[0-9]/.test(version)) continue;
      const output = await run(node, [path.join(folder, 'update.mjs')], env);
      expect([node, output]).toEqual([node, expect.stringContaining('verified: ')]);
    }
  });
});

describe('electron-verified', () => {
  it('verifies, and electron-updater downloads', async () => {
    const folder = await install('electron-verified');
    const client = path.join(temporary.path, 'node_modules/slipway/dist/client/index.cjs');
    await cp(client, path.join(folder, 'slipway-client.cjs'));
    const home = path.join(temporary.path, 'home');
    await mkdir(home);
    await writeFile(path.join(home, 'app-update.yml'), 'updaterCacheDirName: example-updater\n');
    await writeFile(path.join(home, 'App.AppImage'), 'version 1');
    const start = path.join(import.meta.dirname, 'electron-process.ts');
    const main = path.join(folder, 'main.cjs');
    const runMain = (version: string) => run(process.execPath, [start, main, home, version]);
    expect(await runMain('1.0.0')).toContain('verified: 2.0.0');
    expect(await runMain('2.0.0')).toContain('no update\n');
    await writeFile(path.join(folder, 'root.json'), '{}');
    expect(await runMain('1.0.0')).toContain('invalid_root');
  });
});
