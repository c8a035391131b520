import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { fillApplication, openTarget } from './content.ts';
import type { Bench } from './context.ts';
import { median } from './statistics.ts';
import type { Row } from './table.ts';

/**
 * Measures the time that a browser needs to show the overview of the console, with many releases and with few releases.
 */

const CHROMIUM = process.env.BENCH_CHROMIUM ?? '/usr/bin/chromium';
const RELEASES = { many: 1_000, few: 10 } as const;
const VISITS = 10;
/** The target for {@link RELEASES}.many, on a machine with two cores. */
const INTERACTIVE_MS_MAX = 1_000;

export const benchConsole: Bench = async ({ root, makeDirectory, progress }) => {
  const env = { ...process.env, DATA_DIR: await makeDirectory(), OBJECT_STORE: 'filesystem' };
  const target = await openTarget(env);
  for (const [application, count] of Object.entries(RELEASES)) {
    progress(`${count} releases`);
    await fillApplication(target, application, count);
  }
  const times: Record<keyof typeof RELEASES, number[]> = { many: [], few: [] };
  const server = spawn(
    process.execPath,
    [path.join(root, 'dist/scripts/slipway.js'), 'console', '--no-open', '--port', '0'],
    { env, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  process.once('exit', () => server.kill('SIGKILL'));
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'],
  });
  try {
    const opening = await addressOf(server);
    const context = await signIn(browser, opening);
    for (let visit = 0; visit < VISITS; visit++) {
      progress(`overview, visit ${visit + 1}`);
      for (const application of ['many', 'few'] as const) {
        const url = new URL(`/console/${application}`, opening).href;
        times[application].push(await timeOf(context, url));
      }
    }
  } finally {
    await browser.close();
    server.kill('SIGKILL');
  }
  return [
    {
      title: 'The console: the overview in Chromium',
      heading: ['', 'ms', 'min–max'],
      rows: [
        rowOf(`${RELEASES.many} releases`, times.many, INTERACTIVE_MS_MAX),
        rowOf(`${RELEASES.few} releases, the baseline`, times.few, undefined),
      ],
      notes: [
        'From the start of the navigation to the frame after the one that shows the releases, by the clock of the page.',
        `Medians of ${VISITS} visits in turn, each in a new tab, with the files of the console in the cache.`,
      ],
    },
  ];
};

function rowOf(name: string, times: readonly number[], max: number | undefined): Row {
  const value = median(times);
  const range = `${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)}`;
  const cells = [name, value.toFixed(0), range];
  return max === undefined ? { cells } : { cells, target: { value, limit: { max }, unit: ' ms' } };
}

async function addressOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('The console has no output.');
  for await (const line of createInterface({ input: stdout })) {
    const [found] = /http:\S+token=\S+/.exec(line) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error('The console ended before it printed its address.');
}

async function signIn(browser: Browser, opening: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  // The script is a text, because this project is compiled without the types of a browser.
  await context.addInitScript(`
    new MutationObserver((_, observer) => {
      if (document.querySelector('table tbody tr') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => performance.mark('shown')));
    }).observe(document, { childList: true, subtree: true });`);
  const page = await context.newPage();
  await page.goto(opening);
  await page.locator('h1').waitFor();
  await page.close();
  return context;
}

async function timeOf(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage();
  await page.goto(url);
  const ms = await page.evaluate(`new Promise((resolve) => {
    const look = () => {
      const [mark] = performance.getEntriesByName('shown');
      if (mark === undefined) setTimeout(look, 20);
      else resolve(mark.startTime);
    };
    look();
  })`);
  await page.close();
  return Number(ms);
}
