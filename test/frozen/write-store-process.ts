import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { splitWords } from '../../src/cli/try-change.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { manifestOption, slipway } from '../cli/support.ts';
import { createFixedClock } from '../support/clock.ts';
import { openDirectoryStore } from '../support/directory-store.ts';
import { createTestService } from '../support/service.ts';
import { describeContent, signFeed } from '../support/signed-feed.ts';
import { countChecks, countLinks, createProcess, DAY } from '../usage/support.ts';

/**
 * Writes a store that has every kind of stored document: `node write-store-process.ts DIRECTORY PASSWORD`. The stores of
 * released versions stay in `test/frozen/` as they are, and every later version reads them. The keys that sign exist
 * only while this runs.
 */
const DATA_DIR = path.resolve(process.argv[2] ?? '');
const work = `${DATA_DIR}.work`;
await mkdir(work, { recursive: true });
const env = { DATA_DIR };

/** Runs a command, given as a line for a shell. */
async function run(line: string): Promise<void> {
  const { code, stdout, stderr } = await slipway(splitWords(line), { cwd: work, env });
  if (code !== 0) throw new Error(`${line}: ${stdout}${stderr}`);
}

/** Signs a release as a script does, which names the manifest. */
async function sign(version: string, key: string): Promise<void> {
  const tried = (...given: string[]) => slipway(given, { cwd: work, env });
  const named = await manifestOption(tried, version, '--app', 'signed');
  await run(`sign ${version} --app signed --key ${key}.key ${named.join(' ')}`);
}

/** Writes a file for each target, and describes them as arguments of `publish`. */
async function build(version: string, ...targets: readonly string[]): Promise<string> {
  const files = targets.map(async (target) => {
    const [os, arch, format] = target.split('-');
    const file = path.join(work, `Notes-${version}.${os}.${arch}`);
    await writeFile(file, `Notes ${version} for ${os} on ${arch}`);
    const name = `Notes ${version} ${os} ${arch}.${format}`;
    return `"${file},os=${os},arch=${arch},format=${format},name=${name}"`;
  });
  return (await Promise.all(files)).join(' ');
}

const ALL = ['windows-x64-nsis', 'macos-arm64-zip', 'linux-x64-appimage'] as const;
const ONE = ['windows-x64-nsis'] as const;
await writeFile(path.join(work, 'en.md'), 'Faster **search**.\n');
await writeFile(path.join(work, 'de.md'), 'Schnellere **Suche**.\n');

// An application without signatures, with releases in every state.
const notes = '--notes-file en.md --notes-file de=de.md';
await run(`publish 1.0.0 ${await build('1.0.0', ...ALL)} --create ${notes}`);
await run(`publish 1.1.0 ${await build('1.1.0', ...ONE)} --mandatory-for "<1.1.0"`);
await run(`publish 1.2.0 ${await build('1.2.0', ...ONE)}`);
await run('yank 1.2.0 --reason "deletes files"');
await run(`publish 1.3.0 ${await build('1.3.0', ...ONE)}`);
await run('pause 1.3.0 --reason "crashes at start"');
await run(`publish 2.0.0 ${await build('2.0.0', ...ALL)} --requires ">=1.1.0"`);
const weekend = 'Fri 16:00..Mon 08:00 Europe/Berlin';
await run(`rollout 2.0.0 --plan 10%@0h,50%@24h,100%@72h --freeze-window "${weekend}"`);
await run(`publish 2.1.0 ${await build('2.1.0', ...ONE)} --expect windows-x64,linux-x64`);
await run('channels create beta --inherits stable --keep 3 --allow-downgrade on');
await run(`publish 2.2.0-beta.1 ${await build('2.2.0-beta.1', ...ONE)} --channel beta`);
await run('notes 1.0.0 --file en.md');
await run('apps set --display-name "Harbor Notes"');

// An electron-builder build, whose signed update document is carried along.
const electron = path.join(work, 'electron');
await mkdir(electron);
const installer = 'Shell Setup 1.0.0.exe';
await writeFile(path.join(electron, installer), 'an installer');
const feed = signFeed({ version: '1.0.0', files: [describeContent(installer, 'an installer')] });
await writeFile(path.join(electron, 'latest.yml'), feed);
await run('publish 1.0.0 electron --app shell --create');

// An application whose catalog is signed. One release has the signatures that its channel needs, and one waits.
for (const key of ['one', 'two']) await run(`trust new-key ${key}.key --no-passphrase`);
await run(`publish 1.0.0 ${await build('1.0.0', ...ALL)} --app signed --create`);
await run(
  'trust init --app signed --root one.pub --operators one.pub --channel stable=one.pub,two.pub:2 --expires 3650 --key one.key --key two.key',
);
Object.assign(env, { TRUST_ROOT: path.join(work, 'root.json') });
await run(`publish 1.1.0 ${await build('1.1.0', ...ONE)} --app signed --key one.key`);
for (const key of ['one', 'two']) await sign('1.1.0', key);
await run(`publish 1.2.0 ${await build('1.2.0', ...ONE)} --app signed --key one.key`);
await sign('1.2.0', 'two');
Object.assign(env, { TRUST_ROOT: '' });

// What the service writes: accounts, sessions, developer keys, messages, counts.
const settings = { DATA_DIR, REGISTRATION: 'open', CAPTCHA_PROVIDER: 'none' };
const service = await createTestService({ env: settings });
service.app.background.start();
const ask = async (method: 'POST' | 'GET', url: string, payload?: object, token?: string) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await service.app.http.inject({
    method,
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  });
  if (answer.statusCode >= 300) throw new Error(`${url}: ${answer.statusCode} ${answer.body}`);
  return answer.body === '' ? {} : answer.json();
};
const ada = { email: 'ada@example.com', password: process.argv[3] ?? '' };
await ask('POST', '/api/v1/auth/register', { ...ada, name: 'Ada' });
const device = { id: 'device-1', name: 'Desk' };
const session = await ask('POST', '/api/v1/auth/login', { ...ada, platform: 'linux', device });
const renewed = await ask('POST', '/api/v1/auth/refresh', {
  refresh_token: session.refresh_token,
  platform: 'linux',
  device,
});
const key = await ask(
  'POST',
  '/api/v1/developer-keys',
  { name: 'ci', scopes: [{ application: 'desktop', access: 'read' }] },
  renewed.access_token,
);
await ask('GET', '/api/v1/desktop/latest-version', undefined, key.key);
await ask('POST', '/api/v1/contact', {
  name: 'Grace',
  email: 'grace@example.com',
  subject: 'Hello',
  message: 'The search is fast.',
});
for (const platform of ['windows', 'macos', 'linux']) {
  for (const version of ['1.0.0', '1.1.0']) {
    await ask('POST', '/api/v1/desktop/check-update', {
      current_version: version,
      platform,
      arch: platform === 'macos' ? 'arm64' : 'x64',
    });
  }
}
await run('accounts invite lin@example.com');
await service.app.usage.refresh();
await service.app.background.stop(Promise.resolve());
await service.close();

// Counts of the days before, which a process added to a total.
const days = createFixedClock(Date.now() - 3 * DAY);
const memory = createMemoryStore({ clock: days });
for (const process of [createProcess(memory, days), createProcess(memory, days)]) {
  countChecks(process, 30);
  countLinks(process, 20);
  await process.refresh();
  days.advance(1.5 * DAY);
  await process.refresh();
}
const directory = await openDirectoryStore(path.join(DATA_DIR, 'objects'));
for await (const { key: stored } of memory.list('usage/')) {
  const object = await memory.get(stored);
  if (object !== undefined) await directory.create(stored, object.body);
}
await rm(work, { recursive: true });
for (const own of ['state', 'secrets']) await rm(path.join(DATA_DIR, own), { recursive: true });
