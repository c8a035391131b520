import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeTemporaryDirectory } from '../../support/release.ts';
import { describeContent, signFeed } from '../../support/signed-feed.ts';
import { json, slipway } from '../support.ts';

/** `slipway publish` of a build with a signed update document. */

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
const run = (...words: string[]) => slipway(words, { cwd: directory.path });

const ELSEWHERE = 'https://cdn.example/App-1.0.0.exe';
const ARM = 'App-1.0.0-arm64.exe';

beforeEach(async () => {
  directory = await makeTemporaryDirectory();
  const dist = path.join(directory.path, 'dist');
  await mkdir(dist);
  await writeFile(path.join(dist, 'App Setup 1.0.0.exe'), 'x64');
  await writeFile(path.join(dist, 'builder-debug.yml'), '');
  await writeFile(path.join(directory.path, ARM), 'arm64');
  const files = [describeContent('App-Setup-1.0.0.exe', 'x64'), describeContent(ELSEWHERE, 'x64')];
  const document = signFeed({ version: '1.0.0', stagingPercentage: 20, files });
  await writeFile(path.join(dist, 'latest.yml'), document);
});

afterEach(() => directory.remove());

const publishAll = (...options: string[]) =>
  run('publish', '1.0.0', 'dist', `${ARM},os=windows,arch=arm64,format=nsis`, ...options);

it('says which name is published, what clients apply themselves, and what they do not get', async () => {
  const { code, stdout } = await publishAll('--create');
  expect(code).toBe(0);
  expect(stdout).toContain('App-Setup-1.0.0.exe');
  expect(stdout).toContain('latest.yml is signed: clients get it byte for byte.');
  expect(stdout).toContain('apply its stagingPercentage 20 themselves');
  expect(stdout).toContain(`latest.yml lists ${ELSEWHERE}`);
  expect(stdout).toContain(`latest.yml is signed and does not list ${ARM}`);
  expect((await run('show', '1.0.0')).stdout).toMatch(/signed +latest\.yml/);
  expect(json(await run('releases', '--json')).releases).toMatchObject([
    { status: 'active', signed_documents: true },
  ]);
});

it('does not warn of a file that the document lists on another server', async () => {
  const name = 'App-Setup-1.0.0-ia32.exe';
  const dist = path.join(directory.path, 'dist');
  await writeFile(path.join(dist, name), 'ia32');
  const files = [
    describeContent('App-Setup-1.0.0.exe', 'x64'),
    describeContent(`https://cdn.example/${name}`, 'ia32'),
  ];
  await writeFile(path.join(dist, 'latest.yml'), signFeed({ version: '1.0.0', files }));
  const { stdout } = await run('publish', '1.0.0', 'dist', '--create');
  expect(stdout).toContain(`latest.yml lists https://cdn.example/${name}`);
  expect(stdout).toContain('ia32');
  expect(stdout).not.toContain('does not list');
});

it('says the same as JSON', async () => {
  const published = json(await publishAll('--create', '--json'));
  expect(published).toMatchObject({
    rollout: null,
    signed: [{ name: 'latest.yml', elsewhere: [ELSEWHERE] }],
    warnings: [expect.stringContaining(ARM)],
  });
});

it('warns of a release without signed documents after one that has them', async () => {
  await publishAll('--create');
  const next = `${ARM},os=windows,arch=arm64,format=nsis,name=App-1.1.0-arm64.exe`;
  const { stdout } = await run('publish', '1.1.0', next);
  expect(stdout).toMatch(
    /Warning: stable offers 1\.0\.0 with signed documents, and 1\.1\.0 has none/,
  );
  expect((await publishAll()).stdout).not.toMatch(/has none: an application/);
});

it('warns of each target without a signed document, where an earlier release had one', async () => {
  await publishAll('--create');
  await writeFile(path.join(directory.path, 'App-2.0.0.zip'), 'mac');
  const mac = 'App-2.0.0.zip,os=macos,arch=x64,format=zip';
  const arm = `${ARM},os=windows,arch=arm64,format=nsis,name=App-2.0.0-arm64.exe`;
  const { stdout } = await run('publish', '2.0.0', mac, arm);
  expect(stdout).toContain('2.0.0 has none for windows-arm64:');
});

it('warns of a platform whose job did not sign, also when another job of the release did', async () => {
  const publishJob = async (document: string, name: string, version: string, isSigned = true) => {
    const folder = path.join(directory.path, `${document}-${version}`);
    await mkdir(folder);
    await writeFile(path.join(folder, 'builder-debug.yml'), '');
    await writeFile(path.join(folder, name), version);
    const files = [describeContent(name, version)];
    if (isSigned) await writeFile(path.join(folder, document), signFeed({ version, files }));
    return run('publish', version, path.basename(folder), '--create');
  };
  const publishMac = (version: string, isSigned: boolean) =>
    publishJob('latest-mac.yml', `App-${version}-arm64-mac.zip`, version, isSigned);
  const publishWindows = (version: string) =>
    publishJob('latest.yml', `App-Setup-${version}.exe`, version);
  expect((await publishWindows('1.0.0')).stdout).toContain('latest.yml is signed');
  expect((await publishMac('1.0.0', true)).stdout).toContain('latest-mac.yml is signed');
  expect((await publishWindows('2.0.0')).stdout).not.toContain('with signed documents');
  expect((await publishMac('2.0.0', false)).stdout).toContain('2.0.0 has none for macos-arm64:');
});

it('warns of a file that is added later, without a document that lists it', async () => {
  expect((await run('publish', '1.0.0', 'dist', '--create')).stdout).not.toContain('does not list');
  const arm = ['publish', '1.0.0', `${ARM},os=windows,arch=arm64,format=nsis`];
  const warning = `latest.yml is signed and does not list ${ARM}, so electron-updater never installs it`;
  expect((await run(...arm)).stdout).toContain(warning);
});

it('writes nothing in a dry run', async () => {
  const { code, stdout } = await publishAll('--create', '--dry-run');
  expect(code).toBe(0);
  expect(stdout).toContain('latest.yml is signed');
  expect(await readdir(directory.path)).toEqual([ARM, 'dist']);
});
