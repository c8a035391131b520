import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Line, renderTerminal } from './terminal-svg.ts';

/**
 * Draws `docs/picture.svg`: runs the command line and the service in a temporary directory, and draws their output. Every
 * command and every answer in the picture is from that run.
 */

export const ROOT = path.join(import.meta.dirname, '../..');
export const PICTURE = path.join(ROOT, 'docs/picture.svg');
const TITLE =
  'A terminal: two releases are published, an updater is offered 1.1.0, 1.1.0 is yanked, and the updater is offered 1.0.0.';
const FEED = 'curl -s $SERVICE/feeds/desktop/stable/electron/latest.yml | head -3';
const EMPTY: Line = { kind: 'output', text: '' };
/** An upper limit for the time that a service needs to see a change. */
const LIVE_MAX_MS = 20_000;

/** A directory with its command, its builds and its store. */
interface Desk {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly lines: Line[];
}

/**
 * Needs sh, curl and head.
 *
 * @throws Error when a command fails, or the service does not see a change
 */
export async function drawPicture(): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'slipway-picture-'));
  const bin = path.join(home, 'bin');
  const env: NodeJS.ProcessEnv = {
    PATH: `${bin}:${process.env.PATH}`,
    SLIPWAY_ACTOR: 'ada',
  };
  const desk: Desk = { home, env, lines: [] };
  let service: { readonly url: string; readonly stop: () => void } | undefined;
  try {
    await makeCommand(bin);
    await build(desk, '1.0.0');
    await type(desk, 'slipway publish 1.0.0 dist --create');
    await build(desk, '1.1.0');
    await type(desk, 'slipway publish 1.1.0 dist');
    service = await startService(desk);
    env.SERVICE = service.url;
    say(desk, '# What an updater on Windows is offered now:');
    await type(desk, FEED);
    say(desk, '# 1.1.0 has a bug that loses data. One command withdraws it everywhere:');
    await type(desk, 'slipway yank 1.1.0 --reason "loses notes"');
    await untilLive(service.url, "version: '1.0.0'");
    await type(desk, FEED);
    return renderTerminal(TITLE, desk.lines);
  } finally {
    service?.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** Makes the command `slipway`, as `npm install -g` of the package would install it. */
async function makeCommand(bin: string): Promise<void> {
  const script = path.join(ROOT, 'scripts/slipway.ts');
  await mkdir(bin);
  await writeFile(
    path.join(bin, 'slipway'),
    `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`,
  );
  await chmod(path.join(bin, 'slipway'), 0o755);
}

/** Writes the files that electron-builder would write, with invented bytes. */
async function build({ home }: Desk, version: string): Promise<void> {
  const dist = path.join(home, 'dist');
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  const sizes = {
    [`Notes-${version}-x64-Setup.exe`]: 5_200_000,
    [`Notes_${version}_amd64.deb`]: 6_100_000,
  };
  for (const [name, size] of Object.entries(sizes)) {
    await writeFile(path.join(dist, name), Buffer.alloc(size, version));
  }
}

/** Runs a line in a shell, and keeps the line and its output. */
async function type({ home, env, lines }: Desk, command: string): Promise<void> {
  if (lines.length > 0 && lines.at(-1)?.kind !== 'comment') lines.push(EMPTY);
  lines.push({ kind: 'command', text: command });
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], { cwd: home, env });
  for (const text of `${stdout}${stderr}`.trimEnd().split('\n')) {
    lines.push({ kind: 'output', text });
  }
}

function say({ lines }: Desk, text: string): void {
  lines.push(EMPTY, { kind: 'comment', text });
}

async function startService({
  home,
  env,
}: Desk): Promise<{ readonly url: string; readonly stop: () => void }> {
  const child = spawn(process.execPath, [path.join(ROOT, 'src/server.ts')], {
    cwd: home,
    env: { ...env, PORT: '0', METRICS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = (): void => void child.kill('SIGKILL');
  return new Promise((resolve, reject) => {
    // Reads the log to its end, because a service blocks when no process reads its log.
    createInterface({ input: child.stdout })
      .on('line', (line) => {
        const url = /listening on (http:[^"]+)"/.exec(line)?.[1];
        if (url !== undefined) resolve({ url, stop });
      })
      .on('close', () => reject(new Error('The service did not start.')));
  });
}

/** Waits until the service has seen the last change. */
async function untilLive(service: string, expected: string): Promise<void> {
  const feed = `${service}/feeds/desktop/stable/electron/latest.yml`;
  for (let waitedMs = 0; waitedMs < LIVE_MAX_MS; waitedMs += 200) {
    const text = await (await fetch(feed)).text();
    if (text.startsWith(expected)) return;
    await sleep(200);
  }
  throw new Error(
    `The feed does not begin with "${expected}": ${await (await fetch(feed)).text()}`,
  );
}
