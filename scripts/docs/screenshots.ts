import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

/**
 * Writes the pictures in `docs/pictures/`, or in the directory that the first argument names: fills the demo store,
 * starts the service and the console on it, and visits them with Chromium. Beside each picture is a file with the texts
 * of its page. The script stops all clocks, and masks real times and the version in the texts: other changes of the
 * texts come from Slipway. The variable SCREENSHOTS_CHROMIUM can name another browser than /usr/bin/chromium.
 */

const ROOT = path.join(import.meta.dirname, '../..');
const PICTURES = path.resolve(process.argv[2] ?? path.join(ROOT, 'docs/pictures'));
const CLOCK = path.join(import.meta.dirname, 'stopped-clock.ts');
/** A Wednesday. The demo store avoids weekends. */
const STOPPED_AT = '2026-11-25T10:15:00Z';
const STOPPED = new Date(STOPPED_AT);
const CHROMIUM = process.env.SCREENSHOTS_CHROMIUM ?? '/usr/bin/chromium';

const SIZES = {
  desktop: { width: 1280, height: 860 },
  tall: { width: 1280, height: 1400 },
  phone: { width: 390, height: 844 },
} as const;

interface Picture {
  readonly name: string;
  readonly of: 'console' | 'service';
  readonly path: string;
  readonly size?: keyof typeof SIZES;
  readonly scheme?: 'light' | 'dark';
}

const ROLLOUT = '/console/desktop/releases/4.1.0/rollout?channel=stable';
const PAGES: readonly Picture[] = [
  { name: 'console-overview', of: 'console', path: '/console/desktop' },
  { name: 'console-release', of: 'console', path: '/console/desktop/releases/4.1.0' },
  { name: 'console-rollout', of: 'console', path: ROLLOUT, size: 'tall' },
  { name: 'console-adoption', of: 'console', path: '/console/desktop/adoption', scheme: 'dark' },
  { name: 'console-phone', of: 'console', path: '/console/desktop', size: 'phone' },
  { name: 'page-download', of: 'service', path: '/apps/desktop' },
  { name: 'page-releases', of: 'service', path: '/apps/desktop/releases', scheme: 'dark' },
  { name: 'page-status', of: 'service', path: '/status', size: 'phone' },
];

const home = await mkdtemp(path.join(tmpdir(), 'slipway-screenshots-'));
const env = {
  PATH: process.env.PATH,
  DATA_DIR: path.join(home, 'data'),
  SLIPWAY_ACTOR: 'ada',
  BRAND_NAME: 'Harbor',
  HOST: '127.0.0.1',
  PORT: '0',
  METRICS_PORT: '0',
  LOG_FORMAT: 'json',
  STOPPED_AT,
  TZ: 'UTC',
};
const children: ChildProcess[] = [];
try {
  await run('demo', '--store');
  await stopTimesOfFiles(env.DATA_DIR);
  const service = await start(/listening on (http:[^"]+)"/, 'serve');
  const console_ = await start(/(http:\S+token=\S+)/, 'console', '--no-open', '--port', '0');
  await mkdir(PICTURES, { recursive: true });
  await takeAll(service, console_);
} finally {
  for (const child of children) child.kill('SIGKILL');
  await rm(home, { recursive: true, force: true });
}

/** The console says how new the counts are, which it knows from the times of files. */
async function stopTimesOfFiles(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true });
  for (const name of names) await utimes(path.join(directory, name), STOPPED, STOPPED);
}

function slipway(words: readonly string[]): ChildProcess {
  const script = path.join(ROOT, 'scripts/slipway.ts');
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const node = ['--import', pathToFileURL(CLOCK).href, script];
  const child = spawn(process.execPath, [...node, ...words], { cwd: home, env, stdio: [...stdio] });
  children.push(child);
  return child;
}

async function run(...words: string[]): Promise<void> {
  const child = slipway(words);
  child.stdout?.resume();
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`slipway ${words.join(' ')} ended with ${code}.`);
}

/** Starts a command that keeps running, and returns the text that the pattern finds in its output. */
async function start(pattern: RegExp, ...words: string[]): Promise<string> {
  const { stdout } = slipway(words);
  if (stdout === null) throw new Error('The command has no output.');
  for await (const line of createInterface({ input: stdout })) {
    const [, found] = pattern.exec(line) ?? [];
    if (found !== undefined) {
      stdout.resume();
      return found;
    }
  }
  throw new Error(`slipway ${words.join(' ')} ended before it printed an address.`);
}

async function takeAll(service: string, opening: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'],
  });
  try {
    const signedIn = await browser.newContext();
    const first = await signedIn.newPage();
    await first.goto(opening);
    await first.locator('h1').waitFor();
    const storageState = await signedIn.storageState();
    const hosts = { service, console: new URL(opening).origin };
    for (const picture of PAGES) {
      const { size = 'desktop', scheme = 'light' } = picture;
      const context = await browser.newContext({
        viewport: SIZES[size],
        colorScheme: scheme,
        locale: 'en-GB',
        timezoneId: 'UTC',
        storageState,
      });
      await context.clock.setFixedTime(STOPPED);
      await take(context, `${hosts[picture.of]}${picture.path}`, picture.name);
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

async function take(context: BrowserContext, url: string, name: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(url);
  // Waits until the console has drawn its data. A page of the service is complete after it has loaded.
  await page.locator('h1').waitFor();
  await page.waitForTimeout(1_500);
  const file = path.join(PICTURES, `${name}.png`);
  await page.screenshot({ path: file });
  await writeFile(path.join(PICTURES, `${name}.txt`), await textsOf(page));
  console.log(path.relative(ROOT, file));
}

/** The texts of the whole page, one a line. Line breaks of the layout are not part of it, so fonts do not matter. */
async function textsOf(page: Page): Promise<string> {
  const texts = await page.locator('body').innerText();
  const lines = texts.split('\n').map((line) => line.trim());
  const shown = lines.filter(Boolean).join('\n');
  // A new version of Slipway makes no picture stale. The times on the page of the status are of files that the service
  // has just written, so they are the real time.
  return `${shown
    .replace(/^Slipway \d\S+/m, 'Slipway VERSION')
    .replace(/\d+ \w+ \d{4} at \d\d:\d\d UTC/g, 'TIME')}\n`;
}
