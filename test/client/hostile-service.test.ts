import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { renderMetadata, signMetadata } from '../../src/catalog/trust/metadata.ts';
import { createUpdater } from '../../src/client/create-updater.ts';
import type { UpdaterOptions } from '../../src/client/types.ts';
import { commitRoot, signRoot } from '../../src/features/trust/change-root.ts';
import { changeStatus } from '../../src/releases/withdraw/change-status.ts';
import { createHastyClock } from '../support/clock.ts';
import { contentOfRoot, keysOf, makeSigner, type RootOptions, trusting } from '../support/trust.ts';
import { type ClientWorld, checked, openClientWorld, QUICK, type Rule } from './world.ts';

/** A service that lies, stalls or floods. Each lie is refused, and the updater recovers when the service is honest again. */

const k1 = makeSigner('k1');
const k2 = makeSigner('k2', 'p256');
const ci = makeSigner('ci');
const DELEGATED: RootOptions = {
  people: keysOf(2, k1, k2),
  operators: [ci],
  channels: { stable: keysOf(2, k1, k2), beta: keysOf(1, ci) },
};
const DAY_MS = 86_400_000;

let world: ClientWorld;
const clock = createHastyClock();

beforeAll(async () => {
  world = await openClientWorld({ clock, signers: [k1, k2, ci], root: () => DELEGATED });
  await world.release('1.0.0');
  await world.release('1.1.0');
  await world.release('3.0.0-beta.1', { channel: 'beta' });
});
afterAll(() => world.close());
afterEach(() => {
  vi.useRealTimers();
});

/** Answers the requests whose address matches, for as long as `isOn`. */
function lie(pattern: RegExp, answer: (url: string) => Promise<Response> | Response) {
  const state = { isOn: true, asked: 0 };
  const rule: Rule = async (url) => {
    if (!state.isOn || !pattern.test(url)) return undefined;
    state.asked += 1;
    return answer(url);
  };
  return { state, rule };
}

const textOf = async (name: string): Promise<string> =>
  (await fetch(`${world.url}/tuf/desktop/${name}`)).text();

interface Changed {
  readonly signed: Record<string, unknown>;
  readonly signatures: { keyid: string; sig: string }[];
}

const edited = async (name: string, edit: (json: Changed) => void): Promise<Response> => {
  const json = JSON.parse(await textOf(name)) as Changed;
  edit(json);
  return Response.json(json);
};

/** The name of a document below the address of the metadata. */
const nameIn = (url: string): string => url.split('/tuf/desktop/')[1] ?? '';

/** The lie is refused with this code, and without it the same cache works. */
async function expectRefused(
  { state, rule }: ReturnType<typeof lie>,
  code: string,
  given: Partial<UpdaterOptions> = {},
): Promise<void> {
  const options = await world.options(given, rule);
  expect(await checked(options)).toBe(code);
  expect(state.asked).toBeGreaterThan(0);
  state.isOn = false;
  expect(await checked(options)).toBe('1.1.0');
}

describe('metadata that are not signed by enough keys', () => {
  it.each([
    ['a timestamp', /timestamp\.json$/],
    ['a snapshot', /snapshot\.json$/],
    ['the keys of the channels', /\.targets\.json$/],
    ['the list of a channel', /\.channel-stable\.json$/],
  ])('%s without signatures', async (_name, pattern) => {
    await expectRefused(
      lie(pattern, (url) => edited(nameIn(url), (json) => json.signatures.splice(0))),
      'metadata_rejected',
    );
  });

  it('a list that one of two keys signed', async () => {
    await expectRefused(
      lie(/\.channel-stable\.json$/, (url) => edited(nameIn(url), (json) => json.signatures.pop())),
      'metadata_rejected',
    );
  });

  it('a list whose content was changed', async () => {
    await expectRefused(
      lie(/\.channel-stable\.json$/, (url) =>
        edited(nameIn(url), ({ signed }) => {
          signed.x_slipway_allow_downgrade = true;
        }),
      ),
      'metadata_rejected',
    );
  });

  it('a next root that only one person signed', async () => {
    await expectRefused(
      lie(/\/2\.root\.json$/, async () => {
        const { signed } = JSON.parse(await textOf('1.root.json')) as Changed;
        return Response.json(await signMetadata({ ...signed, version: 2 } as never, [k1]));
      }),
      'metadata_rejected',
    );
  });

  it('the list of another channel, signed by its own keys', async () => {
    await expectRefused(
      lie(/\.channel-stable\.json$/, async () => new Response(await textOf('1.channel-beta.json'))),
      'metadata_rejected',
    );
  });
});

describe('old or mixed metadata', () => {
  it('an older timestamp than the updater has seen', async () => {
    const old = await textOf('timestamp.json');
    await world.release('1.0.1', { channel: 'beta' });
    const { state, rule } = lie(/timestamp\.json$/, () => new Response(old));
    state.isOn = false;
    const options = await world.options({}, rule);
    expect(await checked(options)).toBe('1.1.0');
    state.isOn = true;
    expect(await checked(options)).toBe('metadata_rejected');
    state.isOn = false;
    expect(await checked(options)).toBe('1.1.0');
  });

  it('an older snapshot below a newer timestamp', async () => {
    const timestamp = JSON.parse(await textOf('timestamp.json')) as { signed: { version: number } };
    const old = await textOf(`${timestamp.signed.version}.snapshot.json`);
    await world.release('1.0.2', { channel: 'beta' });
    await expectRefused(
      lie(/snapshot\.json$/, () => new Response(old)),
      'metadata_rejected',
    );
  });

  it('an older list of a channel below a newer snapshot', async () => {
    await expectRefused(
      lie(
        /\.channel-stable\.json$/,
        async () => new Response(await textOf('1.channel-stable.json')),
      ),
      'metadata_rejected',
    );
  });

  it('a state that stands still', async () => {
    // A freeze: the attacker repeats what the service answered a week ago.
    const seen = new Map<string, Response>();
    let isFrozen = false;
    const options = await world.options({}, async (url, init) => {
      const known = seen.get(url);
      if (isFrozen && known !== undefined) {
        const headers = { date: new Date().toUTCString() };
        return new Response(await known.clone().text(), { status: known.status, headers });
      }
      const answer = await fetch(url, init);
      seen.set(url, answer.clone());
      return answer;
    });
    expect(await checked(options)).toBe('1.1.0');
    isFrozen = true;
    expect(await checked(options)).toBe('1.1.0');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 8 * DAY_MS });
    expect(await checked(options)).toBe('metadata_stands_still');
    vi.useRealTimers();
    isFrozen = false;
    expect(await checked(options)).toBe('1.1.0');
  });
});

describe('a choice that no key signed', () => {
  const choose = (edit: (text: string) => string) =>
    lie(/check-update$/, async () => {
      const body = { app: 'desktop', current_version: '1.0.0', platform: 'win32', arch: 'x64' };
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', body: JSON.stringify(body), headers };
      const answer = await fetch(`${world.url}/api/v1/desktop/check-update`, request);
      return new Response(edit(await answer.text()));
    });

  it.each([
    ['a version that does not exist', (text: string) => text.replace('"1.1.0"', '"9.0.0"')],
    ['another file', (text: string) => text.replace(/"sha256":"..../, '"sha256":"0000')],
    [
      'another name',
      (text: string) => text.replace('"filename":"App-1.1.0.exe"', '"filename":"Evil.exe"'),
    ],
    [
      'a release of another channel',
      (text: string) => text.replace('"version":"1.1.0"', '"version":"3.0.0-beta.1"'),
    ],
  ])('%s', async (_name, edit) => {
    const once = choose((text) => edit(text.replace('"latest_version":"1.1.0",', '')));
    await expectRefused(once, 'offer_not_signed');
  });

  it('is refused, but a withdrawn release that the keys signed is accepted', async () => {
    await world.release('1.0.5');
    const { service, trust } = world.signed;
    const asked = {
      application: 'desktop',
      version: '1.0.5',
      channel: undefined,
      reason: 'a test',
    };
    await changeStatus({ ...service, trust, actor: 'test' }, 'yank', asked);
    await service.refresh();
    const sha256 = createHash('sha256').update('program 1.0.5').digest('hex');
    const answer = {
      update_available: true,
      check_again_after_seconds: 1,
      version: '1.0.5',
      download: { filename: 'App-1.0.5.exe', sha256 },
    };
    const { rule } = lie(/check-update$/, () => Response.json(answer));
    // No signature covers a withdrawal: docs/clients/verified.md says so.
    expect(await checked(await world.options({}, rule))).toBe('1.0.5');
  });

  it('the running version, and an older one without a signed permission', async () => {
    const { rule } = choose((text) => text);
    for (const currentVersion of ['1.1.0', '1.2.0']) {
      const given = { currentVersion, allowDowngrade: true };
      expect(await checked(await world.options(given, rule))).toBe('downgrade_refused');
    }
  });

  it.each([
    ['no JSON', 'hello'],
    ['another document', '{"update_available":true}'],
    [
      'an unreadable version',
      '{"update_available":true,"check_again_after_seconds":1,"version":"x","download":{"filename":"a","sha256":"b"}}',
    ],
  ])('%s', async (_name, text) => {
    await expectRefused(
      lie(/check-update$/, () => new Response(text)),
      'service_refused',
    );
  });
});

describe('a service that floods or stalls', () => {
  const endless = () => {
    const chunk = new Uint8Array(65_536).fill(32);
    const state = { isClosed: false };
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(chunk),
      cancel: () => {
        state.isClosed = true;
      },
    });
    return { stream, state };
  };

  it.each([
    ['the answer', /check-update$/],
    ['the timestamp', /timestamp\.json$/],
    ['a root', /2\.root\.json$/],
    ['the snapshot', /snapshot\.json$/],
    ['the keys of the channels', /\.targets\.json$/],
    ['the list of a channel', /\.channel-stable\.json$/],
    ['a manifest', /\.1\.json$/],
  ])('endless bytes for %s', async (_name, pattern) => {
    await expectRefused(
      lie(pattern, () => new Response(endless().stream)),
      'service_refused',
    );
  });

  it('endless bytes for a file', async () => {
    const { state, rule } = lie(/\.exe$/, () => new Response(endless().stream));
    const updater = createUpdater(await world.options({}, rule));
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    await expect(updater.download(result.offer)).rejects.toMatchObject({ code: 'service_refused' });
    state.isOn = false;
    await updater.download(result.offer);
  });

  it.each([
    ['an answer that never begins', () => new Promise<Response>(() => {})],
    [
      'one byte now and then',
      () =>
        new Response(
          new ReadableStream({
            pull: async (controller) => {
              await new Promise((resolve) => setTimeout(resolve, 20));
              controller.enqueue(new Uint8Array(1));
            },
          }),
        ),
    ],
  ])('%s', async (_name, answer) => {
    const { state, rule } = lie(/timestamp\.json$/, answer);
    const options = await world.options({}, rule);
    const system = { ...QUICK, patienceMs: 300 };
    expect(await checked(options, system)).toBe('service_unavailable');
    state.isOn = false;
    expect(await checked(options)).toBe('1.1.0');
  });

  it.each([500, 503, 429])('%i', async (status) => {
    const once = lie(/timestamp\.json$/, () => new Response('busy', { status }));
    await expectRefused(once, 'service_unavailable');
  });

  it.each([403, 404, 410, 302])('%i for the timestamp', async (status) => {
    await expectRefused(
      lie(/timestamp\.json$/, () => new Response(null, { status })),
      'service_refused',
    );
  });

  it('a broken connection', async () => {
    const once = lie(/timestamp\.json$/, () => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    });
    await expectRefused(once, 'service_unavailable');
  });
});

describe('a file with other bytes', () => {
  it('is deleted, and downloaded again from an honest service', async () => {
    const { state, rule } = lie(/\.exe$/, () => new Response('program 6.6.6'));
    const updater = createUpdater(await world.options({}, rule));
    const result = await updater.check();
    if (!result.isOffered) throw new Error(result.reason);
    await expect(updater.download(result.offer)).rejects.toMatchObject({ code: 'file_rejected' });
    state.isOn = false;
    await updater.download(result.offer);
  });
});

describe('later roots', () => {
  it('are followed from the first to the newest, and recover from a fast-forward', async () => {
    const { service, root } = world.signed;
    // A thief of the operator's key signs a timestamp of the far future.
    const forward = async (name: 'snapshot' | 'timestamp', more: object): Promise<string> => {
      const { version } = (
        JSON.parse(await textOf('timestamp.json')) as { signed: { version: number } }
      ).signed;
      const of = name === 'timestamp' ? 'timestamp.json' : `${version}.snapshot.json`;
      const { signed } = JSON.parse(await textOf(of)) as Changed;
      const json = await signMetadata({ ...signed, version: 9_000_000_000, ...more } as never, [
        ci,
      ]);
      return Buffer.from(renderMetadata(json)).toString();
    };
    const snapshot = await forward('snapshot', {});
    const meta = { 'snapshot.json': { version: 9_000_000_000 } };
    const timestamp = await forward('timestamp', { meta });
    const { state, rule } = lie(
      /(timestamp|snapshot)\.json$/,
      (url) => new Response(url.endsWith('timestamp.json') ? timestamp : snapshot),
    );
    const options = await world.options({}, rule);
    expect(await checked(options)).toBe('1.1.0');
    state.isOn = false;
    expect(await checked(options)).toBe('metadata_rejected');

    // The people replace the operator's key, five times.
    let newest = root;
    let previous = contentOfRoot({ clock }, DELEGATED);
    for (let version = 2; version <= 6; version += 1) {
      const operator = makeSigner(`operator-${version}`);
      const signers = [k1, k2, ci, operator];
      const deps = { ...service, actor: 'test', trust: trusting(service, [newest], ...signers) };
      const at = service.app.catalog.application('desktop').snapshot().revision.signed.revision;
      const rotated = {
        ...DELEGATED,
        operators: [operator],
        // The keys of a channel are operators, too.
        channels: { ...DELEGATED.channels, beta: keysOf(1, operator) },
        firstRevision: at + 1,
      };
      const content = { ...contentOfRoot({ clock }, rotated), version };
      const made = await signRoot(content, previous, signers);
      const trust = trusting(service, [made.root], ...signers);
      await commitRoot(deps, made, { trust, reason: `root ${version}` });
      await service.refresh();
      newest = made.root;
      previous = content;
    }
    expect(await checked(options)).toBe('1.1.0');
    expect(await checked(await world.options())).toBe('1.1.0');
  });
});
