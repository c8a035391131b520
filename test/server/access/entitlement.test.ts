import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/system.ts';
import { DEFAULT_TIERS, parseTierTable, type TierTable } from '../../../src/domain/tier.ts';
import { createByteAnswers } from '../../../src/server/bytes/byte-answers.ts';
import type { App, RouteDeps } from '../../../src/server/deps.ts';
import { registerCheckUpdate } from '../../../src/server/desktop/check-update.ts';
import { registerDownload } from '../../../src/server/desktop/download.ts';
import { registerLatestVersion } from '../../../src/server/desktop/latest-version.ts';
import { registerFeeds } from '../../../src/server/feeds/feed.ts';
import { createFeeds } from '../../../src/server/feeds/feed-handler.ts';
import { buildBase } from '../../../src/server/set-up/base-server.ts';
import type { UsageCounter } from '../../../src/usage/usage-counter.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { CHECK_UPDATE, DOWNLOAD, LATEST_VERSION, release, setStatus } from '../support.ts';

const FEED = '/feeds/desktop';
const PRO = { authorization: 'Bearer pro' };
const INSIDER_ONLY = parseTierTable({ free: [], pro: ['channel:desktop/insider'] });
const STABLE_TOO = parseTierTable({
  free: [],
  pro: ['channel:desktop/stable', 'channel:desktop/insider'],
});

/** Every request about a channel, and the answer for entitled clients. */
const QUESTIONS: readonly (readonly [string, string])[] = [
  ['latest-version', `${LATEST_VERSION}?channel=insider`],
  ['latest-version for a machine', `${LATEST_VERSION}?channel=insider&platform=windows&arch=x64`],
  ['download', `${DOWNLOAD}/windows?channel=insider`],
  ['download by number', `${DOWNLOAD}/windows?channel=insider&version=2.0.0`],
  ['electron feed', `${FEED}/insider/electron/latest.yml`],
  ['electron feed by file name', `${FEED}/stable/electron/insider.yml`],
  ['tauri feed', `${FEED}/insider/tauri/windows/x86_64/1.0.0`],
  ['feed file', `${FEED}/insider/electron/2.0.0/Setup-2.0.0.exe`],
  ['companion', `${FEED}/insider/electron/2.0.0/Setup-2.0.0.exe.blockmap`],
];

/** What clients with a token get without block maps: see the test of it. */
const DIFFERENT = ['electron feed', 'electron feed by file name'];

/** The routes over the service's catalog, with a table of tiers and "Bearer TIER" for an access token. */
async function openRoutes(service: TestService, tiers: TierTable) {
  const called = { tierOf: [] as string[], links: 0, lookAgain: 0 };
  const counted: object[] = [];
  const { catalog } = service.app;
  const usage: UsageCounter = {
    countCheck: (check) => void counted.push({ check }),
    countLink: (link) => void counted.push({ link }),
  };
  let answersLater = false;
  const deps: RouteDeps = {
    catalog: {
      ...catalog,
      lookAgain: (name) => {
        called.lookAgain++;
        return catalog.lookAgain(name);
      },
    },
    tiers,
    tierOf: (authorization) => {
      called.tierOf.push(authorization);
      const [, tier] = /^Bearer (free|pro)$/.exec(authorization) ?? [];
      return answersLater ? Promise.resolve(tier ?? null) : (tier ?? null);
    },
    usage,
    links: {
      link: ({ method, key }) => {
        called.links++;
        return { url: `https://files.example/${key}?for=${method}`, expiresAt: new Date(0) };
      },
    },
    store: service.store,
    bytes: createByteAnswers(systemClock),
    clock: service.clock,
    defaultApplication: 'desktop',
    checkAgainAfterSeconds: 60,
    publicUrl: () => 'https://updates.example',
  };
  const settings = { logger: pino({ level: 'silent' }), trustProxy: false };
  const app: App = await buildBase(settings, new Registry());
  await app.register(async (scope) => {
    registerCheckUpdate(scope, deps);
    registerLatestVersion(scope, deps);
    registerDownload(scope, deps);
    registerFeeds(scope, createFeeds(deps));
  });
  await app.ready();
  return {
    called,
    counted,
    answerLater: () => {
      answersLater = true;
    },
    get: (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
      app.inject({ method, url, headers }),
    check: async (body: object, headers: Record<string, string> = {}) => {
      const payload = { current_version: '1.0.0', platform: 'windows', arch: 'x64', ...body };
      const answer = await app.inject({ method: 'POST', url: CHECK_UPDATE, headers, payload });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['cache-control']).toBe('no-store');
      return answer.json();
    },
    close: () => app.close(),
  };
}

type Routes = Awaited<ReturnType<typeof openRoutes>>;

/** An answer without what differs from one request to the next. */
function comparable({ statusCode, headers, body }: Awaited<ReturnType<Routes['get']>>) {
  const { date: _date, 'x-request-id': _requestId, ...kept } = headers;
  return { statusCode, headers: kept, body };
}

describe('a channel that requires a tier', () => {
  let service: TestService;
  let closed: Routes;
  let plain: Routes;
  let stableToo: Routes;

  beforeAll(async () => {
    service = await createTestService();
    await release(service, '0.1.0', ['windows x64 nsis']);
    await release(service, '1.0.0', ['windows x64 nsis']);
    const directory = `${service.directory}/insider`;
    for (const version of ['1.7.0', '1.8.0', '2.0.0']) {
      const filename = `Setup-${version}.exe`;
      const blockmap = await makeArtifact(directory, { filename: `${filename}.blockmap` });
      const companions = [{ ...blockmap, kind: 'blockmap' as const }];
      const signatures = [{ scheme: 'minisign', keyId: 'AB', value: 'the .sig' }] as const;
      const content = `insider ${version}`;
      const stated = { filename, content, companions, signatures };
      const artifacts = [await makeArtifact(directory, stated)];
      await publish(service, { version, artifacts, channel: 'insider' });
    }
    await setStatus(service, 'yank', '1.8.0');
    await setStatus(service, 'retire', '1.7.0');
    await release(service, '1.5.0-beta.1', ['windows x64 nsis'], { channel: 'beta' });
    await setStatus(service, 'yank', '0.1.0');
  });
  beforeEach(async () => {
    closed = await openRoutes(service, INSIDER_ONLY);
    plain = await openRoutes(service, DEFAULT_TIERS);
    stableToo = await openRoutes(service, STABLE_TOO);
    return () => Promise.all([closed.close(), plain.close(), stableToo.close()]);
  });
  afterAll(() => service.close());

  describe.each([
    ['a visitor', {}],
    ['a token that means nothing', { authorization: 'Bearer nonsense' }],
    ['another scheme', { authorization: 'Basic cHJvOnBybw==' }],
    ['a tier that does not open it', { authorization: 'Bearer free' }],
  ] as [string, Record<string, string>][])('asked by %s', (_who, headers) => {
    it.each(QUESTIONS)('is 403 in %s', async (_what, url) => {
      for (const method of ['GET', 'HEAD'] as const) {
        const answer = await closed.get(url, headers, method);
        expect(answer.statusCode).toBe(403);
        expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
        expect(answer.headers['cache-control']).toBe('no-store');
        expect(answer.headers.location).toBeUndefined();
        if (method === 'GET') expect(answer.json()).toMatchObject({ code: 'not_entitled' });
        expect(answer.body).not.toMatch(/[12]\.\d\.0|Setup|sha/);
      }
      expect(closed.called).toMatchObject({ links: 0, lookAgain: 0 });
    });

    it('is "no" in check-update, and reveals nothing about its releases', async () => {
      for (const current_version of ['1.0.0', '2.0.0', '9.0.0']) {
        expect(await closed.check({ channel: 'insider', current_version }, headers)).toEqual({
          update_available: false,
          reason: 'not_entitled',
          app: 'desktop',
          channel: 'insider',
          current_version,
          latest_version: null,
          catalog_revision: expect.any(Number),
          check_again_after_seconds: 60,
        });
      }
      expect(closed.called.links).toBe(0);
    });

    it.each(['1.7.0', '1.8.0', '9.9.9'])(
      'does not reveal whether %s was withdrawn or never existed',
      async (version) => {
        const addresses = [
          `${DOWNLOAD}/windows?channel=insider&version=${version}`,
          `${FEED}/insider/electron/${version}/Setup-${version}.exe`,
        ];
        for (const url of addresses) {
          const answer = await closed.get(url, headers);
          expect(answer.json()).toMatchObject({ status: 403, code: 'not_entitled' });
        }
        // An invented version must cost no store request.
        expect(closed.called.lookAgain).toBe(0);
      },
    );
  });

  describe.each([['at once'], ['later']])('asked by those it is open to, known %s', (when) => {
    beforeEach(() => {
      if (when === 'later') closed.answerLater();
    });

    it.each(QUESTIONS.filter(([what]) => !DIFFERENT.includes(what)))(
      'answers %s as a public channel does, and forbids caching',
      async (_what, url) => {
        for (const method of ['GET', 'HEAD'] as const) {
          const answer = comparable(await closed.get(url, PRO, method));
          const usual = comparable(await plain.get(url, {}, method));
          expect([200, 302]).toContain(answer.statusCode);
          const { 'cache-control': cache, vary, ...headers } = answer.headers;
          const { 'cache-control': usualCache, vary: usualVary, ...usualHeaders } = usual.headers;
          expect({ ...answer, headers }).toEqual({ ...usual, headers: usualHeaders });
          expect(cache).toMatch(usualCache === 'no-store' ? /^no-store$/ : /^private, no-store$/);
          if (usualCache !== 'no-store') {
            expect(vary).toBe(
              usualVary === undefined ? 'Authorization' : `${usualVary}, Authorization`,
            );
          }
        }
      },
    );

    it('answers check-update as a public channel does', async () => {
      for (const current_version of ['1.0.0', '2.0.0', '9.0.0']) {
        const body = { channel: 'insider', current_version };
        expect(await closed.check(body, PRO)).toEqual(await plain.check(body));
      }
    });
  });

  it('lists block maps in its feeds, as a public channel does', async () => {
    for (const [what, url] of QUESTIONS.filter(([name]) => DIFFERENT.includes(name))) {
      const [answer, usual] = [await closed.get(url, PRO), await plain.get(url)];
      if (what === 'companion') {
        expect(answer.json()).toMatchObject({ status: 404, code: 'unknown_file' });
        expect(usual.statusCode).toBe(302);
        continue;
      }
      expect(answer.headers['cache-control']).toBe('private, no-store');
      expect(answer.headers.vary).toMatch(/, Authorization$/);
      expect(usual.body).toMatch(/blockMapSize/);
      expect(answer.body).toBe(usual.body);
    }
  });

  it('reports to entitled clients which version was withdrawn and which is unknown', async () => {
    const download = (version: string) =>
      closed.get(`${DOWNLOAD}/windows?channel=insider&version=${version}`, PRO);
    expect((await download('1.7.0')).statusCode).toBe(410);
    expect((await download('1.8.0')).statusCode).toBe(410);
    expect(closed.called.lookAgain).toBe(0);
    expect((await download('9.9.9')).json()).toMatchObject({ code: 'unknown_version' });
    expect(closed.called.lookAgain).toBe(1);
  });

  it('lets no cache store the 204 of a restricted channel', async () => {
    const url = `${FEED}/insider/tauri/windows/x86_64/2.0.0`;
    const answer = await closed.get(url, PRO);
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([
      204,
      'private, no-store',
    ]);
    expect(answer.headers.vary).toBe('Authorization');
    expect((await closed.get(url)).statusCode).toBe(403);
  });

  it('does not tell other clients that their entity tag matches the answer of an entitled client', async () => {
    for (const url of [
      `${LATEST_VERSION}?channel=insider`,
      `${FEED}/insider/electron/latest.yml`,
    ]) {
      const { headers } = await closed.get(url, PRO);
      const condition = { 'if-none-match': String(headers.etag) };
      const again = await closed.get(url, { ...PRO, ...condition });
      expect([again.statusCode, again.headers['cache-control']]).toEqual([
        304,
        'private, no-store',
      ]);
      expect((await closed.get(url, condition)).statusCode).toBe(403);
      expect((await closed.get(url, { 'if-none-match': '*' })).statusCode).toBe(403);
    }
  });

  it('offers no version of it through another channel, to any client', async () => {
    for (const headers of [{}, PRO]) {
      for (const url of [
        `${DOWNLOAD}/windows?version=2.0.0`,
        `${DOWNLOAD}/windows?version=1.8.0`,
        `${FEED}/stable/electron/2.0.0/Setup-2.0.0.exe`,
        `${FEED}/beta/electron/2.0.0/Setup-2.0.0.exe`,
      ]) {
        const answer = await closed.get(url, headers);
        expect(answer.json(), url).toMatchObject({ status: 404, code: 'unknown_version' });
      }
    }
  });

  it('changes no byte in the answers of other channels', async () => {
    const addresses = QUESTIONS.map(([, url]) =>
      url.replaceAll('insider', 'stable').replaceAll('2.0.0', '1.0.0'),
    );
    for (const url of [...addresses, `${LATEST_VERSION}?channel=beta`]) {
      for (const token of [{}, PRO, { authorization: 'Bearer nonsense' }]) {
        const headers = { ...token, 'x-request-id': 'same' };
        const answer = comparable(await closed.get(url, headers));
        expect(answer).toEqual(comparable(await plain.get(url, headers)));
      }
    }
    expect(await closed.check({ current_version: '0.5.0' })).toEqual(
      await plain.check({ current_version: '0.5.0' }),
    );
    const { headers } = await closed.get(LATEST_VERSION);
    expect(headers['cache-control']).toMatch(/^public/);
    expect(headers.vary).toBeUndefined();
  });

  it('verifies a token only when one is sent and some channel requires a tier', async () => {
    const everything = QUESTIONS.map(([, url]) => url);
    for (const url of everything) await closed.get(url);
    await closed.check({ channel: 'insider' });
    expect(closed.called.tierOf).toEqual([]);
    for (const url of everything) await plain.get(url, PRO);
    await plain.check({ channel: 'insider' }, PRO);
    expect(plain.called.tierOf).toEqual([]);
    for (const url of everything) await closed.get(url, PRO);
    await closed.check({ channel: 'insider' }, PRO);
    expect(closed.called.tierOf).toEqual(Array(everything.length + 1).fill(PRO.authorization));
  });

  describe('when that is the stable channel, seen by an open pre-release channel as well', () => {
    const beta = { channel: 'beta', current_version: '0.5.0' };

    it('is visible through it to entitled clients only', async () => {
      expect(await stableToo.check(beta)).toMatchObject({ version: '1.5.0-beta.1' });
      const download = `${DOWNLOAD}/windows?channel=beta&version=1.0.0`;
      const file = `${FEED}/beta/electron/1.0.0/App-1.0.0-windows-x64.nsis`;
      for (const url of [download, file]) {
        expect((await stableToo.get(url)).json()).toMatchObject({ code: 'unknown_version' });
        expect((await stableToo.get(url, PRO)).statusCode).toBe(302);
      }
      // What stable yanked is not told either.
      const yanked = `${DOWNLOAD}/windows?channel=beta&version=0.1.0`;
      expect((await stableToo.get(yanked)).statusCode).toBe(404);
      expect((await stableToo.get(yanked, PRO)).statusCode).toBe(410);
    });

    it('appears in no answer to other clients', async () => {
      await setStatus(service, 'pause', '1.5.0-beta.1');
      try {
        expect(await stableToo.check(beta, PRO)).toMatchObject({ version: '1.0.0' });
        const answer = await stableToo.check(beta);
        expect(answer).toMatchObject({ reason: 'paused', latest_version: null });
        for (const url of [`${LATEST_VERSION}?channel=beta`, `${DOWNLOAD}/windows?channel=beta`]) {
          const refused = await stableToo.get(url);
          expect(refused.statusCode).toBe(404);
          expect(refused.body).not.toContain('1.0.0');
          expect((await stableToo.get(url, PRO)).statusCode).toBeLessThan(400);
        }
      } finally {
        await setStatus(service, 'resume', '1.5.0-beta.1');
      }
    });

    it('makes the answers of the open channel depend on the account: no cache stores them', async () => {
      for (const url of [`${LATEST_VERSION}?channel=beta`, `${FEED}/beta/electron/latest.yml`]) {
        for (const headers of [{}, PRO]) {
          const answer = await stableToo.get(url, headers);
          expect(answer.statusCode).toBe(200);
          expect(answer.headers['cache-control']).toBe('private, no-store');
          expect(answer.headers.vary).toMatch(/Authorization$/);
        }
      }
    });
  });

  describe('the counts', () => {
    const check = { application: 'desktop', platform: 'windows' };

    it('include every check that was answered, with the names in the catalog', async () => {
      await plain.check({ channel: 'latest', current_version: 'v0.5.0', platform: 'win32' });
      await plain.check({ platform: 'linux' });
      await closed.check({ channel: 'insider' });
      const stable = { ...check, channel: 'stable' };
      expect(plain.counted).toEqual([
        { check: { ...stable, version: '0.5.0', offered: '1.0.0' } },
        { check: { ...stable, platform: 'linux', version: '1.0.0', offered: null } },
      ]);
      expect(closed.counted).toEqual([
        { check: { ...check, channel: 'insider', version: '1.0.0', offered: null } },
      ]);
    });

    it('include every document of a feed, also when a client learns nothing new from it', async () => {
      const yml = `${FEED}/latest/electron/latest.yml`;
      const { headers } = await plain.get(yml);
      await plain.get(yml, { 'x-current-version': '0.5.0', 'if-none-match': String(headers.etag) });
      await plain.get(`${FEED}/insider/tauri/windows/x64/2.0.0`);
      await plain.get(yml, {}, 'HEAD');
      const stable = { ...check, channel: 'stable' };
      expect(plain.counted).toEqual([
        { check: { ...stable, version: null, offered: '1.0.0' } },
        { check: { ...stable, version: '0.5.0', offered: '1.0.0' } },
        { check: { ...check, channel: 'insider', version: '2.0.0', offered: null } },
      ]);
    });

    it('include every link to an artifact once, without companions and HEAD', async () => {
      await plain.get(`${DOWNLOAD}/win?channel=latest`);
      await plain.get(`${DOWNLOAD}/windows?version=1.0.0`, { accept: 'application/json' });
      await plain.get(`${FEED}/insider/electron/2.0.0/Setup-2.0.0.exe`);
      await plain.get(`${FEED}/insider/electron/2.0.0/Setup-2.0.0.exe.blockmap`);
      await plain.get(`${FEED}/insider/electron/2.0.0/Setup-2.0.0.exe`, {}, 'HEAD');
      await plain.get(`${DOWNLOAD}/windows`, {}, 'HEAD');
      const stable = { ...check, channel: 'stable', version: '1.0.0' };
      expect(plain.counted).toEqual([
        { link: stable },
        { link: stable },
        { link: { ...check, channel: 'insider', version: '2.0.0' } },
      ]);
    });

    it('include no refused request: invented names reach no counter', async () => {
      for (const url of [
        ...QUESTIONS.map(([, address]) => address),
        `${DOWNLOAD}/windows?app=made-up`,
        `${DOWNLOAD}/windows?channel=made-up`,
        `${DOWNLOAD}/windows?version=9.9.9`,
        `${DOWNLOAD}/macos`,
        `${FEED}/made-up/electron/latest.yml`,
        '/feeds/made-up/stable/electron/latest.yml',
        `${FEED}/stable/electron/1.0.0/made-up.exe`,
        `${LATEST_VERSION}?channel=stable`,
      ]) {
        await closed.get(url);
      }
      expect(closed.counted).toEqual([]);
    });
  });
});
