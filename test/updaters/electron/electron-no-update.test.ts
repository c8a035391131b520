import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { electron } from '../../../src/updaters/electron/electron.ts';
import { createElectronClient, type Updater } from '../../support/electron-updater.ts';

/** "No update", as the real client understands it. */

const { SemVer } = createRequire(createRequire(import.meta.url).resolve('electron-updater'))(
  'semver',
) as { SemVer: new (version: string) => object };

/** The parts of the client that decide, and that tests of requests do not use. */
interface Deciding extends Updater {
  currentVersion: object;
  isUpdateAvailable(document: object): Promise<boolean>;
}

const number = fc.nat({ max: 30 });
const prerelease = fc.constantFrom('', '-0', '-alpha', '-beta.2', '-rc.1');
const installed = fc
  .tuple(number, number, number, prerelease)
  .map(([major, minor, patch, suffix]) => `${major}.${minor}.${patch}${suffix}`);

function noUpdateFor(headers: Record<string, string>): object {
  const question = electron.parseRequest({
    application: 'desktop',
    channel: 'stable',
    path: ['latest.yml'],
    body: undefined,
    query: {},
    headers,
  });
  if (question === undefined) throw new Error('not a document');
  const fileUrl = (): string => 'https://updates.example/file';
  const facts = { document: '', platform: 'windows', arch: null, formats: null } as const;
  const input = { ...facts, fileUrl, olderReleases: [], own: undefined };
  return parse(String(electron.renderNoUpdate(question, 'paused', input)?.body));
}

it('is installed by no client, whatever its version, also when it allows downgrades', async () => {
  const { updater } = await createElectronClient({
    kind: 'nsis',
    version: '1.0.0',
    url: 'http://-',
  });
  const client = updater as Deciding;
  await fc.assert(
    fc.asyncProperty(
      installed,
      fc.boolean(),
      fc.option(fc.oneof(installed, fc.constantFrom('1.0.0.4', '2.1', 'one')), { nil: undefined }),
      async (version, allowDowngrade, sent) => {
        client.currentVersion = new SemVer(version);
        client.allowDowngrade = allowDowngrade;
        const headers = sent === undefined ? {} : { 'x-current-version': sent };
        expect(await client.isUpdateAvailable(noUpdateFor(headers))).toBe(false);
      },
    ),
  );
});
