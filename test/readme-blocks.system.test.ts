import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from './support/process.ts';
import { makeTemporaryDirectory } from './support/release.ts';

/** Types every shell block of the README and of getting-started into a shell, in the order of the page. */

const ROOT = path.join(import.meta.dirname, '..');
const START_MAX_MS = 30_000;
/** What a checkout has that the blocks use. */
const CHECKOUT = ['package.json', 'node_modules', 'src', 'scripts'];

/** What some blocks must print; a block that is not named here must only succeed. */
const EXPECTED: Readonly<Record<string, string>> = {
  'npm test': 'not run: these are the tests',
  '"current_version": "0.9.0"': '"reason":"offer"',
  'cat sample/downloaded': 'I am version 1.0.0',
  'latest-version': '"version":"1.4.0"',
  '"current_version":"1.3.0"': '"reason":"offer"',
  'npm run slipway -- history': 'deletes settings',
  'rollout 1.4.0 5%': 'Changed the rollout of desktop 1.4.0',
  'yank 1.4.0': 'Yanked desktop 1.4.0',
  'explain --version 1.2.0': 'is offered no update',
};

const missing = ['bash', 'curl', 'npm'].filter(
  (program) => spawnSync(program, ['--version']).status !== 0,
);
if (missing.length > 0) {
  console.log(`skipped: the shell blocks of the documents; there is no ${missing.join(', no ')}`);
}
/** In CI they must be there. */
const skipsShell = missing.length > 0 && process.env.CI === undefined;

interface Block {
  readonly line: number;
  readonly text: string;
  /** The lines that it prints, among others and in this order, as the page shows them; `…` stands for any characters. */
  readonly prints: readonly string[];
}

async function readBlocks(file: string): Promise<readonly Block[]> {
  const page = await readFile(path.join(ROOT, file), 'utf8');
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => {
    const [following = ''] = page.slice(match.index + match[0].length).split(/^```(?!text)/m);
    return {
      line: page.slice(0, match.index).split('\n').length,
      text: `${match[1]}`,
      prints: /^```text\n([\s\S]*)/m.exec(following)?.[1]?.trimEnd().split('\n') ?? [],
    };
  });
}

const pages = await Promise.all(
  ['README.md', 'docs/getting-started.md'].map(async (file) => ({
    file,
    blocks: await readBlocks(file),
  })),
);

describe.skipIf(skipsShell).each(pages)('the shell blocks of $file', ({ file, blocks }) => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let checkout: string;
  let port: number;
  const services: ChildProcess[] = [];

  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    port = await freePort();
    checkout = path.join(directory.path, 'slipway');
    await mkdir(checkout);
    for (const name of CHECKOUT) await symlink(path.join(ROOT, name), path.join(checkout, name));
    const dist = path.join(directory.path, 'my-app', 'dist');
    await mkdir(dist, { recursive: true });
    await writeFile(path.join(dist, 'Notes-1.4.0-x64-Setup.exe'), 'an installer');
    await makeNpm(path.join(directory.path, 'bin'));
  });
  afterAll(async () => {
    for (const { pid } of services) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    await directory.remove();
  });

  it('exist', () => {
    expect(blocks.length).toBeGreaterThan(3);
  });

  it.each(blocks)(`${file}:$line`, async ({ text, prints }) => {
    const output = await type(text.replaceAll('8080', String(port)));
    for (const [part, expected] of Object.entries(EXPECTED)) {
      if (text.includes(part)) expect(output).toContain(expected);
    }
    const shown = prints.map((line) =>
      line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*'),
    );
    expect(output).toMatch(new RegExp(shown.map((line) => `^${line}$`).join('[\\s\\S]*?'), 'm'));
  });

  /** Resolves to what a block printed. A block that starts the service goes on running. */
  function type(text: string): Promise<string> {
    const shell = spawn('bash', ['-e', '-o', 'pipefail', '-c', text], {
      cwd: checkout,
      // The demo has a directory of its own; every other block uses the default, ./data.
      env: {
        ...shellEnvironment(),
        ...(text.includes('npm run demo') ? { DATA_DIR: path.join(directory.path, 'demo') } : {}),
      },
      // A group, so that npm and what it started can be ended together.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => fail('It does not end.'), START_MAX_MS);
      const fail = (why: string) => reject(new Error(`${why}\n$ ${text}\n${output}`));
      const read = (chunk: Buffer) => {
        output += chunk;
        if (!/^npm start$/m.test(text) || !output.includes('listening on')) return;
        clearTimeout(late);
        resolve(output);
      };
      shell.stdout.on('data', read);
      shell.stderr.on('data', read);
      if (/^npm start$/m.test(text)) services.push(shell);
      shell.once('close', (code) => {
        clearTimeout(late);
        if (code === 0) resolve(output);
        else fail(`It ended with ${code}.`);
      });
    });
  }

  function shellEnvironment(): Record<string, string> {
    return {
      HOME: directory.path,
      PATH: `${path.join(directory.path, 'bin')}:${process.env.PATH}`,
      PORT: String(port),
      METRICS_PORT: '0',
      npm_config_cache: path.join(directory.path, 'npm'),
      npm_config_update_notifier: 'false',
    };
  }
});

/**
 * npm, with three differences. `npm ci` does nothing: the packages are installed, or this test would not run. The demo
 * ends in place of serving until Ctrl-C. `npm test` would run tests in a test, so it is only named.
 */
async function makeNpm(bin: string): Promise<void> {
  await mkdir(bin);
  const npm = path.join(bin, 'npm');
  const script = `#!/bin/sh
case "$*" in
  ci) exit 0 ;;
  test) echo 'not run: these are the tests' && exit 0 ;;
  'run demo') set -- run demo -- --once ;;
esac
PATH=\${PATH#"${bin}:"} exec npm "$@"
`;
  await writeFile(npm, script);
  await chmod(npm, 0o755);
}
