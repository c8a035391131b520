import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Identity, makeIdentity, signProgram } from '../../support/authenticode.ts';
import { makeMinisignKey, signMinisign } from '../../support/minisign-key.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { json, slipway } from '../support.ts';

/** The comparison of a release with earlier releases, as a publisher sees it. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
const run = (...words: string[]) => slipway(words, { cwd: directory.path });

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
});
afterEach(() => directory.remove());

const write = (name: string, content: string | Uint8Array) =>
  writeFile(path.join(directory.path, name), content);

it('refuses a release that the application forbids, and stores nothing of it', async () => {
  await write('App-1.0.0.exe', 'program');
  const publish = (version: string) =>
    run(
      'publish',
      version,
      `App-1.0.0.exe,os=windows,arch=x64,format=nsis,name=App-${version}.exe`,
      '--create',
    );
  expect((await publish('1.0.0')).stderr).toBe('');
  const set = await run('apps', 'set', '--require', 'key, publisher');
  expect(set.stdout).toMatch(/require +none +publisher,key/);
  const refused = await publish('2.0.0');
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(
    /App-2\.0\.0\.exe is not signed\. Sign it with Authenticode\. Nothing was published, because desktop requires "publisher": slipway apps set --require changes that\./,
  );
  expect((await run('list', '--json')).stdout).not.toContain('2.0.0');
  await run('apps', 'set', '--require', 'none');
  expect((await publish('2.0.0')).code).toBe(0);
});

it('refuses a forged signature and a self-made certificate of the same name, and warns of another issuer', async () => {
  const authority = makeIdentity('Example Authority', { serial: 1 });
  const acme = makeIdentity('Acme GmbH', { issuer: authority });
  const publish = async (version: string, program: Uint8Array, ...options: string[]) => {
    await write('App.exe', program);
    const file = `App.exe,os=windows,arch=x64,format=nsis,name=App-${version}.exe`;
    return run('publish', version, file, '--json', ...options);
  };
  expect(json(await publish('1.0.0', signProgram(acme), '--create')).warnings).toEqual([]);
  const impostor = makeIdentity('Acme GmbH');
  const forged = signProgram({ ...acme, key: impostor.key });
  const notMade =
    'The signature of App-2.0.0.exe cannot be verified: the key of its certificate did not make it.';
  // Without the rule, it is a warning, and nothing states who signed the file.
  const warned = json(await publish('2.0.0', forged, '--draft'));
  expect(warned.warnings).toEqual([expect.stringContaining(notMade)]);
  await run('apps', 'set', '--require', 'publisher');
  expect((await run('publish', '2.0.0')).stderr).toMatch(/Nothing states who signed App-2\.0\.0/);
  const refused = await publish('2.0.0', forged);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(notMade);
  expect(refused.stderr).toContain('desktop requires \\"publisher\\"');
  const selfMade = await publish('2.1.0', signProgram(impostor));
  expect(selfMade.code).toBe(3);
  expect(selfMade.stderr).toMatch(
    /The certificate of App-2\.1\.0\.exe is signed with its own key, and the certificate of 1\.0\.0 by CN=Example Authority, O=Example Authority\./,
  );
  // The rule also counts for a draft that is older than the rule.
  await run('apps', 'set', '--require', 'none');
  await publish('2.1.0', signProgram(impostor), '--draft');
  await run('apps', 'set', '--require', 'publisher');
  expect((await run('publish', '2.1.0')).stderr).toMatch(
    /is signed with its own key, and .* requires/,
  );
  const rotated: Identity = { ...authority, name: 'Example Authority 2' };
  const other = await publish('2.2.0', signProgram(makeIdentity('Acme GmbH', { issuer: rotated })));
  expect(json(other)).toMatchObject({
    status: 'active',
    warnings: [
      expect.stringContaining('is signed by CN=Example Authority 2, O=Example Authority 2'),
    ],
  });
});

it('knows its rules', async () => {
  const { code, stderr } = await run('apps', 'set', '--require', 'publisher,signed');
  expect(code).toBe(2);
  expect(stderr).toContain(
    '--require has no rule "signed". Rules: publisher, team, ticket, key; "none" removes all.',
  );
});

it('warns of a key that earlier releases do not trust, and knows the release that brought it', async () => {
  const [old, next] = [makeMinisignKey(0x1111), makeMinisignKey(0x2222)];
  await write('old.pub', old.pubkey);
  await write('next.pub', next.pubkey);
  const publish = async (version: string, key: typeof old, ...options: string[]) => {
    const bundle = path.join(directory.path, 'bundle');
    await rm(bundle, { recursive: true, force: true });
    await mkdir(bundle);
    const name = `App_${version}_x64-setup.exe`;
    const comment = `timestamp:1\tfile:${name}\tversion:${version}`;
    await writeFile(path.join(bundle, name), version);
    await writeFile(path.join(bundle, `${name}.sig`), signMinisign(key, version, { comment }));
    return run('publish', version, 'bundle', '--json', ...options);
  };
  await publish('0.9.0', old, '--create');
  await run('apps', 'set', '--tauri-pubkey', 'old.pub');
  expect(json(await publish('1.0.0', old)).warnings).toEqual([]);
  expect(json(await publish('1.1.0', old, '--trusts', 'next.pub')).warnings).toEqual([]);
  await run('apps', 'set', '--tauri-pubkey', 'next.pub');
  const warning = `Warning: App_2.0.0_x64-setup.exe is signed with the Tauri key ${next.keyId}. 1 of 2 earlier releases (1.0.0) trust only the key ${old.keyId}, so they refuse this update.`;
  expect(json(await publish('2.0.0', next)).warnings).toEqual([expect.stringContaining(warning)]);
  await run('apps', 'set', '--require', 'key');
  expect((await publish('2.1.0', next)).stderr).toMatch(/requires \\"key\\"/);
  // A rule also counts for a draft that is older than the rule, and for a release of another channel.
  const refusing = /1\.0\.0\) trust only the key .* requires "key"/;
  await run('apps', 'set', '--require', 'none');
  await publish('2.2.0', next, '--draft');
  await publish('2.3.0', next, '--channel', 'preview', '--create');
  await run('apps', 'set', '--require', 'key');
  expect((await run('publish', '2.2.0')).stderr).toMatch(refusing);
  expect((await run('promote', '2.3.0', '--to', 'stable')).stderr).toMatch(refusing);
  const inheriting = ['channels', 'create', 'edge', '--inherits', 'stable'];
  expect((await run(...inheriting)).code).toBe(0);
  expect((await run('promote', '2.3.0', '--to', 'edge')).stderr).toMatch(refusing);
  await run('apps', 'set', '--require', 'none');
  expect((await run('publish', '2.2.0')).code).toBe(0);
  const unused = await publish('2.4.0', next, '--trusts', `${'A'.repeat(43)}=`);
  expect(unused.stderr).toMatch(/--trusts gives a key of Sparkle, and no file/);
  const stated = await publish('2.1.0', next, '--trusts', 'bundle');
  expect(stated.stderr).toContain('bundle: it is a directory, and only plain files are read');
});
