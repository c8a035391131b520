import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderRampSvg } from '../../../src/features/simulate/ramp-svg.ts';
import { rampOf } from '../../../src/features/simulate/version-ramp.ts';
import { launchBrowser, skipsBrowser } from '../../e2e/website-page.ts';
import { makeTemporaryDirectory } from '../../support/release.ts';

const HOUR = 3_600_000;

/** What a browser draws. */
describe.skipIf(skipsBrowser)('the SVG of a ramp in a browser', () => {
  let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>;
  let browser: Browser;
  beforeAll(async () => {
    directory = await makeTemporaryDirectory();
    browser = await launchBrowser();
  });
  afterAll(() => Promise.all([browser?.close(), directory.remove()]));

  it('has every text inside, no two labels of a row over each other, and other colors in the dark', async () => {
    const times = [0, 0.5, 1, 6, 7, 24, 25, 47, 48].map((hours) => ({
      at: hours * HOUR,
      isStep: true,
      growsEvenly: hours === 1,
    }));
    const totals = ['10.20.30-beta.12', '10.20.29', '9.1.0', '8.0.0', '7.0.0', '6.0.0'].map(
      (version, index) => ({ version, installed: 0, counts: times.map((_, at) => at + index + 1) }),
    );
    const installations = totals.reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0);
    const ramp = rampOf({ installations, times }, totals);
    const file = path.join(directory.path, 'ramp.svg');
    await writeFile(
      file,
      renderRampSvg(
        ramp,
        `Versions of ${'notes-for-teams-'.repeat(5)} over time`,
        `after ${'rollout '.repeat(40)}`,
      ),
    );
    const fills: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme });
      await page.goto(pathToFileURL(file).href);
      const boxes = (await page.evaluate(
        `[...document.querySelectorAll('text')].filter((text) => !text.hasAttribute('transform')).map((text) => {
          const { x, y, width } = text.getBBox();
          return { text: text.textContent, x, row: Math.round(y), right: x + width };
        })`,
      )) as { text: string; x: number; row: number; right: number }[];
      expect(boxes.length).toBeGreaterThan(10);
      for (const box of boxes) {
        expect([box.text, box.x >= 0 && box.right <= 860]).toEqual([box.text, true]);
        const over = boxes.filter(
          (other) =>
            other !== box && other.row === box.row && other.x < box.right && other.x > box.x,
        );
        expect(over.map(({ text }) => `${box.text} ${text}`)).toEqual([]);
      }
      fills.push(await page.evaluate("getComputedStyle(document.querySelector('.b0')).fill"));
      await page.close();
    }
    expect(new Set(fills).size).toBe(2);
  });
});
