import { describe, expect, it } from 'vitest';
import { useConsole, violationsOf } from '../features/console/browser/visit.ts';
import { skipsBrowser } from './website-page.ts';

const RELEASE = '/console/desktop/releases/2.8.0';
const ROLLOUT = `${RELEASE}/rollout?channel=stable`;

describe.skipIf(skipsBrowser)('the console while something is refused or out of reach', () => {
  const { open, press } = useConsole();

  it('keeps what it shows while the store or the server fails, and says since when', async () => {
    const screen = await open('/console/desktop');
    const { page, fixture } = screen;
    await page.getByText('2.8.0-beta.3').first().waitFor();
    const storeIsRead = page.getByText(/Store OK, read on \d+ \w+ \d{4}, \d\d:\d\d/);
    await storeIsRead.waitFor();
    fixture.problem = 'The store s3://releases did not answer.';
    await page.getByText('The store s3://releases did not answer.').waitFor();
    await page.getByText(/^Shown as of \d+ \w+ \d{4}, \d\d:\d\d/).waitFor();
    expect(await storeIsRead.count()).toBe(0);
    fixture.isDown = true;
    await page
      .getByText("The console's server cannot be reached. Check that it still runs.")
      .waitFor();
    await page.getByText(/^No answer since \d+ \w+ \d{4}, \d\d:\d\d/).waitFor();
    expect(await page.getByRole('row', { name: /^2\.8\.0 / }).count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    fixture.isDown = false;
    fixture.problem = null;
    await page.getByText('No answer since').waitFor({ state: 'detached' });
    await storeIsRead.waitFor();
    await screen.close();
  });

  it('does not ask again for what has not changed, nor while the page is hidden', async () => {
    const screen = await open('/console/desktop');
    const { page, fixture } = screen;
    await page.getByText('2.8.0-beta.3').first().waitFor();
    const statuses: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/overview')) statuses.push(response.status());
    });
    await expect.poll(() => statuses.length, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(new Set([304]));
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await page.waitForTimeout(3_200);
    const before = fixture.asked.length;
    await page.waitForTimeout(3_500);
    expect(fixture.asked.length).toBe(before);
    await screen.close();
  });

  it.each([
    ['/console/desktop/releases/9.9.9', 'No channel of desktop lists 9.9.9.', 'desktop'],
    ['/console/desktop/releases/9.9.9/rollout', 'No channel of desktop lists 9.9.9.', 'desktop'],
    ['/console/nowhere', 'No application "nowhere"', null],
    ['/console/nowhere/adoption', 'No application "nowhere"', null],
    ['/console/nowhere/explain', 'No application "nowhere"', null],
    ['/console/nowhere/history', 'No application "nowhere"', null],
  ] as const)('%s says that it is not found, with a way back', async (path, why, app) => {
    const screen = await open(path);
    const { page } = screen;
    await page.getByText('Not found').waitFor();
    expect(await page.getByText(why).count()).toBe(1);
    // Nothing on the screen looks as if it were still loading.
    expect(await page.locator('.bone').count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    const name = app === null ? 'Go to the releases' : `Go to the releases of ${app}`;
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByText('2.8.0-beta.3').first().waitFor();
    expect(new URL(page.url()).pathname).toBe(app === null ? '/console' : `/console/${app}`);
    await screen.close();
  });

  it('says that a channel of an address does not exist, and leads to those that do', async () => {
    const screen = await open(`${RELEASE}/rollout?channel=nope`);
    const { page } = screen;
    await page.getByText('The channel nope does not list 2.8.0.').waitFor();
    await page.getByRole('link', { name: 'Rollout on stable' }).click();
    await page.getByRole('heading', { name: 'On stable' }).waitFor();
    await screen.goto('/console/desktop?channel=nope');
    await page.getByText('desktop has no channel nope.').waitFor();
    await press(page, 'Show all');
    await page.getByText('2.8.0-beta.3').first().waitFor();
    await screen.close();
  });

  it('shows no control that changes something, where changes are refused', async () => {
    const screen = await open('/console/desktop', { fixture: { mayChange: false } });
    const { page } = screen;
    await page.getByText('Read-only').waitFor();
    await page.getByText('2.8.0-beta.3').first().waitFor();
    for (const path of ['/console/desktop', RELEASE, ROLLOUT]) {
      await screen.goto(path);
      await page.getByText('25.5 %').first().waitFor();
      const names = /pause|yank|roll back|resume|edit|preview/i;
      expect(await page.getByRole('button', { name: names }).count(), path).toBe(0);
    }
    await screen.close();
  });

  describe('in the service', () => {
    const fixture = { mode: 'service', mayChange: false } as const;

    it('signs in, has no doctor, and signs with a token', async () => {
      const screen = await open('/console/desktop', { fixture });
      const { page } = screen;
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Password').fill('wrong');
      await press(page, 'Sign in');
      await page.getByText('The email address or the password is wrong.').waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.getByLabel('Password').fill('correct horse');
      await page.keyboard.press('Enter');
      await page.getByText('2.8.0-beta.3').first().waitFor();
      expect(await page.getByRole('link', { name: 'Doctor' }).count()).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      await screen.close();
    });

    it('says clearly that an account does not include the console', async () => {
      const detail = 'The tier "free" does not include the console.';
      const denied = { status: 403, code: 'not_entitled', detail };
      const screen = await open('/console/desktop', { fixture: { ...fixture, denied } });
      const { page } = screen;
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Password').fill('correct horse');
      await press(page, 'Sign in');
      await page.getByText('Your account does not include the console').waitFor();
      await page.getByText(detail).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await screen.close();
    });
  });
});
