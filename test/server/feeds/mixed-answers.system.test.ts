import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn, UNLIMITED } from '../../features/accounts/routes/account-support.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { release, setStatus } from '../support.ts';

/**
 * Two processes on one store are asked the same questions in opposite orders. An answer that a process kept for one client
 * and gave to another one would differ.
 */

const TIERS = JSON.stringify({ member: ['channel:desktop/insider'] });
const env = {
  ...UNLIMITED,
  TIERS,
  PUBLIC_URL: 'https://updates.example.com',
  LEGACY_ADDRESSES: 'hazel,nuts,electronjs',
  LEGACY_APPS: 'acme/desktop=desktop',
};

let one: TestService;
let two: TestService;

beforeAll(async () => {
  one = await createTestService({ env });
  two = await createTestService({ env, store: one.store, clock: one.clock });
  const rollout = { text: '50%', freezeWindows: [] };
  await release(one, '1.0.0', machines('1.0.0'));
  await release(one, '1.1.0+7', machines('1.1.0'));
  await release(one, '1.2.0', [...machines('1.2.0'), 'macos arm64 zip'], { requires: '>=1.1.0' });
  await release(one, '1.3.0', machines('1.3.0'), { rollout });
  await release(one, '1.4.0', machines('1.4.0'), { channel: 'insider' });
  await two.refresh();
});
afterAll(() => Promise.all([one.close(), two.close()]));

function machines(bare: string) {
  return [
    { machine: 'windows x64 squirrel', filename: `App-${bare}-full.nupkg` },
    { machine: 'windows ia32 squirrel', filename: `App-ia32-${bare}-full.nupkg` },
    { machine: 'linux x64 velopack', filename: `Tool-${bare}-linux-full.nupkg` },
    { machine: 'macos x64 zip', minimumOsVersion: bare === '1.2.0' ? '13.0' : null },
    { machine: 'windows x64 msix', minimumOsVersion: bare === '1.0.0' ? null : '10.0.19041' },
  ];
}

const ADDRESSES = ['stable', 'latest', 'insider'].flatMap((channel) =>
  ['0.9.0', '1.0.0', '1.0', '1.1.0+7', '1.2.0', '1.3.0', '1.4.0', '9.0.0'].flatMap((version) => {
    const feed = `/feeds/desktop/${channel}`;
    const text = encodeURIComponent(version);
    return [
      `${feed}/squirrel-windows/RELEASES?localVersion=${text}&arch=amd64`,
      `${feed}/squirrel-windows/RELEASES?localVersion=${text}&arch=x86`,
      `${feed}/squirrel-windows/x64/RELEASES?localVersion=${text}`,
      `${feed}/velopack/releases.linux.json?localVersion=${text}`,
      `${feed}/velopack/releases.linux.json?localVersion=${text}&stagingId=a`,
      `${feed}/velopack/releases.stable.json?localVersion=${text}`,
      `${feed}/squirrel-mac/darwin/x64/${text}`,
      `${feed}/squirrel-mac/darwin/arm64/${text}?installation_id=b`,
      `${feed}/squirrel-mac/darwin/x64/releases.json?current_version=${text}`,
      `${feed}/msix/${text}`,
      `${feed}/msix/${text}?os_version=10.0.22000`,
      `/update/channel/${channel}/darwin/${text}`,
      `/update/channel/${channel}/win32/${text}/RELEASES`,
      `/acme/desktop/win32-ia32/${text}/RELEASES`,
    ];
  }),
);
const CLIENTS: readonly Readonly<Record<string, string>>[] = [
  {},
  { authorization: 'member' },
  { 'x-installation-id': 'c' },
  { 'x-installation-id': 'd', authorization: 'member' },
  { 'user-agent': 'App CFNetwork/1408.0.4 Darwin/21.6.0' },
  { 'user-agent': 'App CFNetwork/1408.0.4 Darwin/23.5.0' },
];
const QUESTIONS = [...new Set(ADDRESSES)].flatMap((url) =>
  CLIENTS.map((client) => ({ url, client })),
);

async function answersOf(
  service: TestService,
  questions: typeof QUESTIONS,
): Promise<ReadonlyMap<string, string>> {
  const { access } = await signIn(service);
  const answers = new Map<string, string>();
  for (const { url, client } of questions) {
    const isMember = client.authorization !== undefined;
    const headers = isMember ? { ...client, authorization: `Bearer ${access}` } : client;
    const { statusCode, headers: got, body } = await service.app.http.inject({ url, headers });
    expect(statusCode, url).toBeLessThan(500);
    const shown = statusCode < 400 ? body : JSON.parse(body).code;
    const facts = [statusCode, got['cache-control'], got.vary, got.etag, shown];
    answers.set(`${url} ${JSON.stringify(client)}`, JSON.stringify(facts));
  }
  return answers;
}

it('no client gets the answer of another one', async () => {
  for (const verb of [undefined, 'pause', 'yank'] as const) {
    if (verb !== undefined) {
      await setStatus(one, verb, verb === 'pause' ? '1.2.0' : '1.3.0');
      await two.refresh();
    }
    const [forwards, backwards] = await Promise.all([
      answersOf(one, QUESTIONS),
      answersOf(two, QUESTIONS.toReversed()),
    ]);
    expect(forwards.size).toBe(QUESTIONS.length);
    for (const [question, answer] of forwards) {
      expect([question, backwards.get(question)]).toEqual([question, answer]);
    }
    // A shared cache has one answer for clients that send the same User-Agent.
    for (const url of new Set(ADDRESSES)) {
      const own = CLIENTS.filter((client) => client['user-agent'] === undefined);
      const answers = own.map((client) => forwards.get(`${url} ${JSON.stringify(client)}`) ?? '');
      const isPublic = answers.some((answer) => answer.includes('"public,'));
      if (isPublic) expect([url, ...new Set(answers)]).toHaveLength(2);
    }
    // Different clients do get different answers: the questions are worth asking.
    expect(new Set(forwards.values()).size).toBeGreaterThan(20);
  }
});
