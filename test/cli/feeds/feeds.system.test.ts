import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeTauriSetUp } from '../../../src/updaters/tauri/tauri-set-up.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { type Finished, json, slipway } from '../support.ts';

/** The output of `slipway feeds`. */

let service: TestService;
let url: string;

beforeEach(async () => {
  service = await createTestService({ store: 'directory' });
  url = await service.listen();
});

afterEach(() => service.close());

const FILES = {
  'App Setup 1.0.0.exe': { platform: 'windows', format: 'nsis' },
  'App 1.0.0.exe': { platform: 'windows', format: 'binary' },
  'App-1.0.0-mac.zip': { platform: 'macos', arch: 'universal', format: 'zip' },
  'App-1.0.0.dmg': { platform: 'macos', arch: 'universal', format: 'dmg' },
  'App-1.0.0.AppImage': { platform: 'linux', format: 'appimage' },
  'App-1.0.0-arm64.AppImage': { platform: 'linux', arch: 'arm64', format: 'appimage' },
} as const;

async function release(): Promise<void> {
  const artifacts = [];
  for (const [filename, file] of Object.entries(FILES)) {
    const content = filename;
    artifacts.push(await makeArtifact(service.directory, { ...file, filename, content }));
  }
  await publish(service, { version: '1.0.0', artifacts });
  await service.refresh();
}

function feeds(words: readonly string[] = [], env: Record<string, string> = {}): Promise<Finished> {
  const DATA_DIR = service.config.dataDirectory;
  const settings = { DATA_DIR, PUBLIC_URL: url, ...env };
  return slipway(['feeds', ...words], { cwd: service.directory, env: settings });
}

interface ListedJson {
  readonly channel: string;
  readonly needs_token: boolean;
  readonly feeds: readonly {
    readonly dialect: string;
    readonly serves: readonly object[];
    readonly addresses: readonly {
      readonly clients: string;
      readonly url: string;
      readonly has_build: boolean;
    }[];
    readonly texts: readonly { readonly into: string; readonly text: string }[];
  }[];
  readonly downloads: readonly { readonly os: string; readonly url: string }[];
  readonly check_update: string;
  readonly unserved: readonly { readonly format: string; readonly matters: string }[];
}

async function listed(words: readonly string[] = [], env = {}): Promise<readonly ListedJson[]> {
  return json(await feeds([...words, '--json'], env)).channels;
}

describe('the addresses', () => {
  it('are answered by the service, each of them', async () => {
    await release();
    const [stable] = await listed();
    const values: Readonly<Record<string, string>> = {
      target: 'linux',
      arch: 'x86_64',
      current_version: '0.9.0',
      bundle_type: 'deb',
      'process.arch': 'x64',
      'app.getVersion()': '0.9.0',
    };
    const addresses = (stable?.feeds ?? [])
      .filter(({ serves }) => serves.length > 0)
      .flatMap((feed) => feed.addresses)
      .filter(({ clients, has_build }) => has_build && !/\(POST\)/.test(clients))
      .map(({ url: address }) =>
        address.replace(
          /\{\{([^}]+)\}\}|\$\{([^}]+)\}/g,
          (_, tauri, js) => values[tauri ?? js] ?? '',
        ),
      );
    expect(addresses.length).toBeGreaterThan(3);
    const answers = await Promise.all(
      addresses.map(async (address) => [address, (await fetch(address)).status]),
    );
    expect(answers.filter(([, status]) => status !== 200 && status !== 204)).toEqual([]);
    const downloads = await Promise.all(
      (stable?.downloads ?? []).map(async (each) => [each.os, (await fetch(each.url)).status]),
    );
    expect(downloads).toEqual([
      ['windows', 200],
      ['macos', 200],
      ['linux', 200],
    ]);
    const check = await fetch(String(stable?.check_update), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        current_version: '0.9.0',
        platform: 'windows',
        arch: 'x64',
        channel: 'stable',
      }),
    });
    expect(check.status).toBe(200);
  });

  it('of clients that the channel has a build for come first, and the others say so', async () => {
    const file = { platform: 'linux', format: 'appimage' } as const;
    const arm = await makeArtifact(service.directory, {
      ...file,
      arch: 'armv7',
      filename: 'A.AppImage',
    });
    await publish(service, { version: '1.0.0', artifacts: [arm] });
    const [stable] = await listed();
    const { addresses } = stable?.feeds.find(({ dialect }) => dialect === 'electron') ?? {};
    expect(addresses?.[0]).toEqual({
      clients: 'Linux armv7',
      url: `${url}/feeds/desktop/stable/electron/latest-linux-arm.yml`,
      has_build: true,
    });
    expect(addresses?.slice(1).map(({ has_build }) => has_build)).toEqual(Array(5).fill(false));
    const { stdout } = await feeds();
    expect(stdout).toMatch(/latest-linux-arm\.yml\n/);
    expect(stdout).toMatch(/latest-mac\.yml \(no build yet\)\n/);
  });

  it('name the application and the channel when they are not the default ones', async () => {
    const artifact = await makeArtifact(service.directory, { filename: 'B.exe' });
    const request = { application: 'other', channel: 'beta', version: '1.0.0-beta.1' };
    await publish(service, { ...request, artifacts: [artifact] });
    await service.refresh();
    const [beta] = await listed(['--app', 'other']);
    const [download] = beta?.downloads ?? [];
    expect(download?.url).toBe(`${url}/api/v1/desktop/download/windows?app=other&channel=beta`);
    expect((await fetch(String(download?.url))).status).toBe(200);
    const { stdout } = await feeds(['--app', 'other']);
    expect(stdout).toContain('/check-update with "app": "other", "channel": "beta"');
  });

  it('come with the public key that the application has', async () => {
    await release();
    // A minisign public key: its algorithm, an id and 32 bytes.
    const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    const key = Buffer.from(x, 'base64url');
    const line = Buffer.concat([Buffer.from('Ed12345678'), key]).toString('base64');
    const { dataDirectory: DATA_DIR } = service.config;
    const set = await slipway(['apps', 'set', '--tauri-pubkey', line], {
      cwd: service.directory,
      env: { DATA_DIR },
    });
    expect(set.code).toBe(0);
    const [stable] = await listed();
    const texts = stable?.feeds.find(({ dialect }) => dialect === 'tauri')?.texts ?? [];
    const [{ text } = { text: '{}' }] = texts;
    const { pubkey } = JSON.parse(text).plugins.updater;
    expect(Buffer.from(pubkey, 'base64').toString()).toContain(line);
  });

  it('begin with the whole PUBLIC_URL, with its path', async () => {
    await release();
    const PUBLIC_URL = 'https://example.com/updates/';
    const { stdout } = await feeds([], { PUBLIC_URL });
    expect(stdout).toContain(
      ' https://example.com/updates/feeds/desktop/stable/electron/latest.yml',
    );
    expect(stdout).toContain(' https://example.com/updates/api/v1/desktop/download/windows');
  });

  it('begin with a name that cannot exist without PUBLIC_URL, and the command says what to set', async () => {
    await release();
    const { stdout, code } = await feeds([], { PUBLIC_URL: '' });
    expect(code).toBe(0);
    expect(stdout).toContain(
      'PUBLIC_URL is not set, so the addresses begin with https://public-url.invalid. Set PUBLIC_URL to the address that clients use, here and for the service, and run the command again.',
    );
    expect(json(await feeds(['--json'], { PUBLIC_URL: '' })).public_url).toBeNull();
  });
});

describe('the report', () => {
  it('shows what each updater gets, and the files that no feed serves', async () => {
    await release();
    const { stdout, stderr, code } = await feeds();
    expect([code, stderr]).toEqual([0, '']);
    const base = `${url}/feeds/desktop/stable/electron`;
    const sections = stdout.split('\n\n').map((section) => section.split('\n'));
    expect(sections.slice(0, 3)).toEqual([
      ['Feeds of desktop in ./data (catalog revision 1):'],
      ['Channel stable: windows nsis, binary; macos dmg, zip; linux appimage'],
      [
        '  electron, for electron-updater (generic provider): windows nsis; macos zip; linux appimage',
        `    Windows      ${base}/latest.yml`,
        `    macOS        ${base}/latest-mac.yml`,
        `    Linux x64    ${base}/latest-linux.yml`,
        `    Linux arm64  ${base}/latest-linux-arm64.yml`,
        `    Linux armv7  ${base}/latest-linux-arm.yml (no build yet)`,
        `    Linux ia32   ${base}/latest-linux-ia32.yml (no build yet)`,
      ],
    ]);
    const without = sections.find(([title]) => title === '  Other updaters, and what they take');
    expect(without?.join('\n')).toMatch(/^ {4}msix +takes windows msix$/m);
    expect(without?.join('\n')).toMatch(/^ {4}tauri +takes windows nsis, msi; macos/m);
    expect(without?.join('\n')).not.toMatch(/^ {4}electron/m);
    expect(sections).toContainEqual([
      '  Download button on a website',
      `    Windows  ${url}/api/v1/desktop/download/windows`,
      `    macOS    ${url}/api/v1/desktop/download/macos`,
      `    Linux    ${url}/api/v1/desktop/download/linux`,
    ]);
    expect(sections).toContainEqual([
      '  An updater of your own',
      `    POST ${url}/api/v1/desktop/check-update with "channel": "stable"`,
    ]);
    expect(sections.at(-1)).toEqual([
      'For the lines to paste into an application, name its updater: slipway feeds --updater electron',
      '',
    ]);
  });

  it('shows the lines to paste for one updater', async () => {
    await release();
    const { stdout } = await feeds(['--updater', 'electron']);
    const base = `${url}/feeds/desktop/stable/electron`;
    expect(stdout).toContain(
      [
        '    Into electron-builder.yml:',
        '      publish:',
        '        provider: generic',
        `        url: ${base}?arch=\${arch}`,
        '        channel: latest',
        '    Into app-update.yml, only when electron-builder does not write it; arch as built:',
        '      provider: generic',
        `      url: ${base}?arch=x64`,
        '      channel: latest',
        '      updaterCacheDirName: desktop-updater',
        '    Into the main process, before the first check:',
        "      autoUpdater.requestHeaders = { 'x-current-version': app.getVersion() };",
      ].join('\n'),
    );
    expect(stdout).not.toContain('Download button');
    expect(stdout).not.toContain('squirrel-mac');
    expect((await listed(['--updater', 'tauri']))[0]?.feeds).toHaveLength(1);
  });

  it('refuses an unknown updater, and names one that is close', async () => {
    const { code, stderr } = await feeds(['--updater', 'squirrelmac']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'No updater "squirrelmac". Did you mean squirrel-mac? Updaters: electron,',
    );
  });

  it('tells clients of a channel for some accounts how to send the token', async () => {
    await release();
    const TIERS = JSON.stringify({ free: [], pro: ['channel:desktop/stable'] });
    const { stdout } = await feeds(['--updater', 'electron'], { TIERS });
    expect(stdout).toContain('Channel stable (clients need an access token): ');
    expect(stdout).toContain('        authorization: `Bearer $');
    const [stable] = await listed([], { TIERS });
    expect(stable?.needs_token).toBe(true);
    const tauri = stable?.feeds.find(({ dialect }) => dialect === 'tauri');
    expect(tauri?.texts.map(({ text }) => text).join()).toContain(
      'check({ headers: { Authorization: `Bearer $',
    );
  });

  it('shows every updater for a channel without a release', async () => {
    await slipway(['channels', 'create', 'stable', '--create'], {
      cwd: service.directory,
      env: { DATA_DIR: service.config.dataDirectory },
    });
    const { stdout } = await feeds();
    expect(stdout).toContain('Channel stable: no release is offered\n');
    expect(stdout).toContain('electron-updater (generic provider)\n');
    expect((await feeds(['--updater', 'tauri'])).stdout).toContain('"endpoints": [');
    expect(stdout).not.toContain('no feed serves');
  });

  it('says that a file would be served with a signature', async () => {
    const filename = 'App.msi';
    const artifact = await makeArtifact(service.directory, { filename, format: 'msi' });
    await publish(service, { version: '1.0.0', artifacts: [artifact] });
    const [stable] = await listed();
    expect(stable?.unserved).toMatchObject([
      {
        format: 'msi',
        matters: expect.stringMatching(/would take it with a minisign signature\.$/),
      },
    ]);
  });

  it('refuses an unknown application and an unknown channel', async () => {
    await release();
    const wrong = await feeds(['--app', 'desktpo']);
    expect([wrong.code, wrong.stderr]).toEqual([
      3,
      expect.stringContaining('Did you mean desktop?'),
    ]);
    const channel = await feeds(['--channel', 'beta']);
    expect(channel.stderr).toContain('No channel "beta" in desktop. Channels: stable.');
    // An alias is the channel that it stands for.
    expect((await listed(['--channel', 'latest'])).map((each) => each.channel)).toEqual(['stable']);
  });
});

it('puts the public key of the application into the lines for Tauri', () => {
  const feed = { application: 'desktop', url: 'https://example.com/f', isRestricted: false };
  const [text] = describeTauriSetUp({ ...feed, publicKeys: { minisign: 'RWQ=' } }).texts;
  expect(JSON.parse(String(text?.text)).plugins.updater.pubkey).toBe('RWQ=');
  const without = describeTauriSetUp({ ...feed, publicKeys: {} });
  expect(without.notes.join()).toContain('Replace YOUR_PUBLIC_KEY');
});

it('is named by the first release of a channel', async () => {
  await writeFile(path.join(service.directory, 'A.exe'), 'bytes');
  const options = { cwd: service.directory, env: { DATA_DIR: service.config.dataDirectory } };
  const file = 'A.exe,os=windows,arch=x64,format=nsis';
  const first = await slipway(['publish', '1.0.0', file, '--create', '--app', 'other'], options);
  expect(first.stdout).toContain(': slipway feeds --app other --channel stable\n');
  const second = await slipway(['publish', '1.1.0', file, '--app', 'other'], options);
  expect(second.stdout).not.toContain('slipway feeds');
});
