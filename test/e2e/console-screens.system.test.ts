import { describe, expect, it } from 'vitest';
import {
  DESKTOP,
  overflowOf,
  PHONE,
  shiftOf,
  useConsole,
  violationsOf,
} from '../features/console/browser/visit.ts';
import { skipsBrowser } from './website-page.ts';

/** Each screen of the console by its address, the word that its data has, and its title. */
const SCREENS = [
  ['/console/desktop', '2.8.0-beta.3', 'Acme <b>Notes'],
  ['/console/desktop/releases/2.8.0', 'windows-arm64', '2.8.0'],
  ['/console/desktop/releases/2.8.0/rollout?channel=stable', '41,022', 'Rollout of 2.8.0'],
  ['/console/desktop/adoption?days=14', 'macos-arm64', 'Adoption'],
  ['/console/desktop/explain?platform=windows&arch=x64', 'bucket 3268', 'Explain'],
  ['/console/desktop/history?kind=pause', 'crashes at start', 'History'],
  ['/console/-/doctor', 'Not checked yet', 'Doctor'],
  ['/console/desktop/nowhere', 'no screen at this address', 'Not found'],
] as const;

describe.skipIf(skipsBrowser)('the screens of the console', () => {
  const { open, visit } = useConsole();

  describe.each([
    ['a phone', PHONE],
    ['a desktop', DESKTOP],
    ['a window at 200 %', { width: 720, height: 450 }],
  ] as const)('on %s', (_name, viewport) => {
    it.each(SCREENS)(
      '%s is accessible in light and dark, stable and alone',
      async (path, word, title) => {
        const screen = await open(path, {
          ...{ viewport, colorScheme: 'light' },
          fixture: { slowMs: 150 },
        });
        await screen.page.getByText(word).first().waitFor();
        // Charts come after the data.
        await screen.page.waitForTimeout(300);
        expect(await screen.page.title()).toBe(`${title} · Slipway`);
        expect(await shiftOf(screen.page)).toBeLessThan(0.01);
        expect(await overflowOf(screen.page)).toBeLessThanOrEqual(0);
        expect(await violationsOf(screen.page)).toEqual([]);
        await screen.page.emulateMedia({ colorScheme: 'dark' });
        expect(await violationsOf(screen.page)).toEqual([]);
        expect(screen.wrong).toEqual([]);
        await screen.close();
      },
    );
  });

  it('has touch targets of 44 pixels on a phone', async () => {
    for (const [path, word] of SCREENS) {
      const screen = await open(path, { viewport: PHONE });
      await screen.page.getByText(word).first().waitFor();
      const small = await screen.page.evaluate(() =>
        [...document.querySelectorAll('button, select, input, summary, .tabs a, a.button')]
          .filter((element) => element.checkVisibility())
          .map((element) => (element.matches('[type=checkbox]') ? element.parentElement : element))
          .filter((element) => (element?.getBoundingClientRect().height ?? 0) < 43.5)
          .map((element) => element?.outerHTML.slice(0, 120)),
      );
      expect(small, path).toEqual([]);
      await screen.close();
    }
  });

  it('cuts no tab in a narrow window', async () => {
    for (const width of [320, 360, 390]) {
      const screen = await open(SCREENS[0][0], { viewport: { ...PHONE, width } });
      const tabs = screen.page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
      await tabs.first().waitFor();
      const edges = await tabs.evaluateAll((links) =>
        links.map((link) => link.getBoundingClientRect().right),
      );
      expect(edges).toHaveLength(5);
      expect(Math.max(...edges), `${width}`).toBeLessThanOrEqual(width);
      await screen.close();
    }
  });

  it('names the release that replaced another one, without a share', async () => {
    for (const viewport of [PHONE, DESKTOP]) {
      const screen = await open('/console/desktop?q=2.8.0-beta', { viewport });
      const status = screen.page.locator('.cell-line', { hasText: 'Replaced by 2.8.0' });
      await status.waitFor();
      expect(await status.locator('.status.muted').count()).toBe(1);
      expect(await status.locator('.share').count()).toBe(0);
      await screen.close();
    }
  });

  it('shows the time of each stage of a plan', async () => {
    const screen = await open(SCREENS[2][0]);
    const rows = screen.page.getByRole('table', { name: 'Stages of the plan' }).getByRole('row');
    await rows.first().waitFor();
    const texts = (await rows.allInnerTexts()).slice(1);
    const time = String.raw`\d+ \w+ \d{4}, \d\d:\d\d \(.+\)`;
    const shares = [
      ['5', ''],
      ['25.5', String.raw`\s*now`],
      ['50', ''],
      ['100', ''],
    ] as const;
    expect(texts).toEqual(
      shares.map(([share, tag]) =>
        expect.stringMatching(new RegExp(`^${share} %\\s+${time}${tag}$`)),
      ),
    );
    await screen.close();
  });

  it('goes back and forward, changes the title, and moves the focus to the heading', async () => {
    const screen = await visit();
    const { page } = screen;
    await screen.goto('/console/desktop?status=paused');
    await page.getByRole('row', { name: /2\.7\.2/ }).waitFor();
    await page.getByRole('link', { name: '2.7.2', exact: true }).click();
    const heading = page.getByRole('heading', { level: 1 }).first();
    await page.getByText('Desktop-2.7.2-x64.nsis').waitFor();
    expect(await page.title()).toBe('2.7.2 · Slipway');
    expect(await heading.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.goBack();
    await page.getByRole('row', { name: /2\.7\.2/ }).waitFor();
    expect(page.url()).toContain('status=paused');
    expect(await page.getByRole('row').count()).toBe(2);
    await page.goForward();
    await page.getByText('Desktop-2.7.2-x64.nsis').waitFor();
    expect(screen.fixture.asked.filter((each) => each.endsWith('/start'))).toHaveLength(1);
    await screen.close();
  });

  it('explains with every rule that was checked, and says who paused the running version', async () => {
    const screen = await visit();
    const { page } = screen;
    await screen.goto('/console/desktop/explain?platform=windows&arch=x64&version=2.6.3');
    await page
      .getByText('2.6.3, which the client runs, is paused on stable: "crashes at start"')
      .waitFor();
    expect(await page.getByText('ada@build-7, revision 120').count()).toBe(1);
    const held = page.locator('details.rules').first();
    expect(await held.locator('summary').innerText()).toMatch(/2\.8\.0\s+stable\s+held by rollout/);
    expect(await held.locator('li strong').allInnerTexts()).toEqual([
      'platform',
      'native build',
      'format',
      'status',
      'rollout',
    ]);
    expect(await held.locator('li .status').allInnerTexts()).toEqual([
      'passes',
      'passes',
      'passes',
      'passes',
      'fails',
    ]);
    expect(screen.wrong).toEqual([]);
    await screen.close();
  });

  it('shows a thousand releases, and says how long it took', async () => {
    const { releasesOf } = await import('../features/console/browser/fixture-releases.ts');
    const screen = await visit({ fixture: { releases: releasesOf(1_000) } });
    const { page } = screen;
    // The frame after the one that shows the first rows.
    await page.addInitScript(`
      new MutationObserver((_, observer) => {
        if (document.querySelector('.matrix tbody tr') === null) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => performance.mark('releases')));
      }).observe(document, { childList: true, subtree: true });`);
    await screen.goto('/console/desktop');
    await page.getByText('1,000 releases').waitFor();
    const startMs = await page.evaluate(
      () => performance.getEntriesByName('releases')[0]?.startTime,
    );
    const search = page.getByRole('searchbox');
    // From the input to the frame after it, by the page's clock.
    const frameAfter = (act: string) =>
      page.evaluate(`new Promise((resolve) => {
        const start = performance.now();
        ${act};
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
      })`) as Promise<number>;
    const searchMs = await frameAfter(`
      const search = document.querySelector('[type=search]');
      search.value = '2.100.';
      search.dispatchEvent(new InputEvent('input', { bubbles: true }))`);
    await page.getByText('4 of 1,000 releases').waitFor();
    await search.fill('');
    await page.getByText('1,000 releases', { exact: true }).waitFor();
    const allMs = await frameAfter(`document.querySelector('.more .quiet').click()`);
    expect(await page.getByRole('row').count()).toBe(1_001);
    console.log(
      `1,000 releases: interactive ${Math.round(startMs ?? 0)} ms after navigation; searched in ${Math.round(searchMs)} ms; all rows in ${Math.round(allMs)} ms.`,
    );
    expect(startMs).toBeGreaterThan(0);
    await screen.close();
  });

  it('shows hostile and long texts as texts, inside the window', async () => {
    const { HOSTILE, hostileReleases, LONG_VERSION } = await import(
      '../features/console/browser/fixture-releases.ts'
    );
    for (const viewport of [PHONE, DESKTOP]) {
      const screen = await visit({ viewport, fixture: { releases: hostileReleases() } });
      const { page } = screen;
      for (const path of [
        '/console/desktop',
        `/console/desktop/releases/${LONG_VERSION}`,
        `/console/desktop/releases/${LONG_VERSION}/rollout`,
        '/console/desktop/history?kind=yank',
      ]) {
        await screen.goto(path);
        await page.locator('main :is(table, .card, .history)').first().waitFor();
        expect(await overflowOf(page), path).toBeLessThanOrEqual(0);
      }
      expect(await page.getByText(HOSTILE).count()).toBeGreaterThan(0);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      expect(await page.locator('img').count()).toBe(0);
      expect(screen.wrong).toEqual([]);
      await screen.close();
    }
  });
});
