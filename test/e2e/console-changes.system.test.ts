import { describe, expect, it } from 'vitest';
import { PHONE, useConsole, violationsOf } from '../features/console/browser/visit.ts';
import { skipsBrowser, tabTo } from './website-page.ts';

const RELEASE = '/console/desktop/releases/2.8.0';
const ROLLOUT = `${RELEASE}/rollout?channel=stable`;

describe.skipIf(skipsBrowser)('changes in the console', () => {
  const { open, press } = useConsole();

  it('stops a release with one click from the overview, and resumes it after a look', async () => {
    const screen = await open('/console/desktop');
    const { page, fixture } = screen;
    // Only releases that clients are offered now have the red button; it names the channels that it acts on.
    const stops = page.locator('.button.stop');
    await stops.first().waitFor();
    expect(
      await stops.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label'))),
    ).toEqual([
      'Pause 2.9.0-nightly.20261123 on nightly',
      'Pause 2.8.0 on stable and beta',
      'Pause 2.7.1 on stable',
    ]);
    expect(await page.getByRole('row', { name: /^2\.8\.0 / }).innerText()).toContain(
      'on stable and beta',
    );
    const old = page.getByRole('link', { name: 'Pause 2.8.0-beta.3', exact: true });
    expect(await old.getAttribute('href')).toBe('/console/desktop/releases/2.8.0-beta.3');
    await press(page, 'Pause 2.8.0 on stable and beta');
    await page.getByText('2.8.0 is paused').waitFor();
    expect(fixture.bodies).toEqual([
      {
        change: { kind: 'pause', version: '2.8.0', channel: null, reason: null },
        revision: null,
      },
    ]);
    await page.getByText('Clients see it within 5 seconds.').waitFor();
    await page.getByRole('row', { name: /^2\.8\.0 .*Paused/ }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await press(page, 'Resume…');
    // The decision comes before the details.
    const confirm = page.getByRole('button', { name: 'Resume 2.8.0', exact: true });
    await confirm.waitFor();
    const table = await page.getByRole('dialog').locator('table').boundingBox();
    expect(table?.y).toBeGreaterThan((await confirm.boundingBox())?.y ?? 0);
    await confirm.click();
    await page.getByText('2.8.0 is offered again').waitFor();
    expect(fixture.bodies[1]).toEqual({
      change: { kind: 'resume', version: '2.8.0', channel: null, reason: null },
      revision: 129,
    });
    await screen.close();
  });

  it('takes the reason after the pause, and not when the release was resumed meanwhile', async () => {
    const screen = await open('/console/desktop', { viewport: PHONE });
    const { page, fixture } = screen;
    await press(page, 'Pause 2.8.0 on stable and beta');
    await press(page, 'Add the reason…');
    await page.getByLabel('Reason').fill('crashes at start');
    await page.getByRole('button', { name: 'Save the reason' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await press(page, 'Save the reason');
    await page.getByText('The reason for the pause of 2.8.0 is saved').waitFor();
    const change = { kind: 'pause', version: '2.8.0', channel: null, reason: 'crashes at start' };
    expect(fixture.bodies[1]).toEqual({ change, revision: 129 });
    // Later, on the screen of the release, which another person resumes.
    await screen.goto(RELEASE);
    await page.getByText('Paused').first().waitFor();
    await page.getByText('had reached 25.5 %').waitFor();
    await page.getByText('24.0 % of the checks on stable').waitFor();
    await press(page, /the reason…$/);
    fixture.releases = fixture.releases.map((release) => ({
      ...release,
      cells: release.cells.map((cell) => ({ ...cell, status: 'active' as const })),
    }));
    fixture.revision += 1;
    await page.getByText('The release is not paused any more.').waitFor();
    expect(await page.getByLabel('Reason').count()).toBe(0);
    await screen.close();
  });

  it('stops a release by keyboard alone, on a phone as well', async () => {
    const screen = await open(RELEASE, { viewport: PHONE });
    const { page, fixture } = screen;
    await page.getByRole('button', { name: 'Pause 2.8.0' }).waitFor();
    await tabTo(page, '.button.danger.large');
    await page.keyboard.press('Enter');
    await page.getByText('2.8.0 is paused').waitFor();
    expect(fixture.bodies).toHaveLength(1);
    await screen.close();
  });

  it('sends a change once, however often the button is pressed', async () => {
    const screen = await open(RELEASE);
    const { page, fixture } = screen;
    const button = page.getByRole('button', { name: 'Pause 2.8.0' });
    await button.waitFor();
    fixture.slowMs = 400;
    await button.dblclick();
    await button.click({ force: true });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('2.8.0 is paused').waitFor();
    expect(fixture.bodies).toHaveLength(1);
    await screen.close();
  });

  it('says why a stop failed', async () => {
    const screen = await open('/console/desktop', { fixture: { refusal: 'The store is full.' } });
    await press(screen.page, 'Pause 2.8.0 on stable and beta');
    await screen.page.getByText('2.8.0 was not paused. The store is full.').waitFor();
    await screen.close();
  });

  it('yanks after a look at the consequences, and keeps the reason when it fails', async () => {
    const screen = await open(RELEASE);
    const { page, fixture } = screen;
    await press(page, 'Yank…');
    await page.getByText('get 2.7.1 instead of 2.8.0').waitFor();
    await page.getByLabel('Reason').fill('loses settings');
    expect(await violationsOf(page)).toEqual([]);
    fixture.refusal = 'It is yanked already.';
    await press(page, 'Yank 2.8.0 permanently');
    await page.getByText('It is yanked already.').waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('loses settings');
    fixture.refusal = null;
    await press(page, 'Yank 2.8.0 permanently');
    await page.getByText('2.8.0 is yanked').waitFor();
    expect(fixture.bodies[1]).toEqual({
      change: { kind: 'yank', version: '2.8.0', channel: null, reason: 'loses settings' },
      revision: 128,
    });
    expect(await page.getByRole('dialog').count()).toBe(0);
    await screen.close();
  });

  it('rolls back to the version that is chosen; Escape closes the dialog', async () => {
    const screen = await open(RELEASE);
    const { page, fixture } = screen;
    await press(page, 'Roll back…');
    await page.getByLabel('Back to').selectOption('2.6.3');
    await press(page, 'Roll stable back to 2.6.3');
    await page.getByText('stable is rolled back to 2.6.3').waitFor();
    expect(fixture.bodies[0]?.change).toMatchObject({ kind: 'rollback', to: '2.6.3' });
    await press(page, 'Roll back…');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toBe('Roll back…');
    await screen.close();
  });

  it('asks to look again when another person changed the catalog meanwhile', async () => {
    const screen = await open(ROLLOUT);
    const { page, fixture } = screen;
    await press(page, 'Plan');
    await page.getByLabel('Plan', { exact: true }).fill('10%@0h,100%@2d');
    await press(page, 'Preview');
    await page.getByText('How 10,000 installations would update').waitFor();
    await page.locator('.simulation canvas').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    fixture.changesUnderneath = true;
    await press(page, 'Change stable to 10%@0h,100%@2d');
    await page.getByText('The catalog changed after your preview').waitFor();
    expect(await page.getByLabel('Plan', { exact: true }).inputValue()).toBe('10%@0h,100%@2d');
    await press(page, 'Preview again');
    await press(page, 'Change stable to 10%@0h,100%@2d');
    await page.getByText('The rollout of 2.8.0 on stable is changed').waitFor();
    expect(fixture.bodies.map(({ revision }) => revision)).toEqual([128, 129]);
    await screen.close();
  });

  it('draws no line over time for a share that nothing changes later', async () => {
    const screen = await open(ROLLOUT);
    const { page } = screen;
    await page.getByLabel('Share in percent').fill('75');
    await press(page, 'Preview');
    await page.getByText('What 10,000 installations would run after they have checked').waitFor();
    const rows = page.getByRole('table', { name: 'Installations by version' }).getByRole('row');
    expect((await rows.allInnerTexts())[1]).toMatch(/^2\.8\.0\s+7,500\s+75\.0 %/);
    expect(await page.locator('.simulation canvas').count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await screen.close();
  });

  it('notices a change that comes while a person looks at the consequences', async () => {
    const screen = await open(ROLLOUT);
    const { page, fixture } = screen;
    await press(page, 'Complete');
    await press(page, 'Preview');
    await page.getByRole('button', { name: 'Change stable to complete' }).waitFor();
    fixture.revision += 1;
    fixture.by = 'grace@laptop';
    await page.getByText('The catalog changed after your preview: grace@laptop').waitFor();
    expect(await page.getByRole('button', { name: 'Change stable to complete' }).count()).toBe(0);
    expect(fixture.bodies).toEqual([]);
    await screen.close();
  });

  it('edits notes with a live preview, and keeps the text when saving fails', async () => {
    const screen = await open(RELEASE);
    const { page, fixture } = screen;
    await press(page, 'Edit notes');
    await page.getByLabel('Markdown').fill('Better <b>than</b> before');
    await page.locator('.notes-preview').getByText('Better <b>than</b> before').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await press(page, 'Preview');
    // The preview has arrived.
    await page.getByRole('button', { name: 'Save notes' }).waitFor();
    fixture.isDown = true;
    await press(page, 'Save notes');
    await page
      .getByText("The console's server cannot be reached. Check that it still runs.")
      .first()
      .waitFor();
    expect(await page.getByLabel('Markdown').inputValue()).toBe('Better <b>than</b> before');
    fixture.isDown = false;
    await press(page, 'Save notes');
    await page.getByText('The notes of 2.8.0 are saved').waitFor();
    expect(fixture.bodies[0]?.change).toEqual({
      kind: 'notes',
      version: '2.8.0',
      locale: 'en',
      markdown: 'Better <b>than</b> before',
      reason: null,
    });
    await screen.close();
  });
});
