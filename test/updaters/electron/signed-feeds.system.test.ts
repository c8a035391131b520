import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listChannel } from '../../../src/answers/feeds/list-channel.ts';
import { artifactKey, carriedObject } from '../../../src/catalog/documents/keys.ts';
import { parseTierTable } from '../../../src/domain/tier.ts';
import type { UpdateQuery } from '../../../src/domain/update-query.ts';
import type { PublishRequest } from '../../../src/releases/publish/publish-request.ts';
import { changeStatus, type StatusVerb } from '../../../src/releases/withdraw/change-status.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { electron } from '../../../src/updaters/electron/electron.ts';
import { createHastyClock } from '../../support/clock.ts';
import { createFaultyStore, type FaultyStore } from '../../support/faulty-store.ts';
import { makeArtifact, publish } from '../../support/release.ts';
import { createTestService, type TestService } from '../../support/service.ts';
import { describeContent, isAccepted, signFeed } from '../../support/signed-feed.ts';

/** Documents that electron-builder signed, as clients get them. */

let store: FaultyStore;
let service: TestService;

beforeEach(async () => {
  const clock = createHastyClock();
  store = createFaultyStore(createMemoryStore({ clock }));
  service = await createTestService({ store, clock });
});

afterEach(() => service.close());

const WINDOWS = { platform: 'windows', format: 'nsis', extension: 'exe' } as const;
const MAC = { platform: 'macos', format: 'zip', extension: 'zip' } as const;

/** Publishes a release with a signed document. @returns the document */
async function release(
  version: string,
  {
    kind = WINDOWS,
    name = 'latest.yml',
    info = {},
    ...request
  }: Partial<PublishRequest> & {
    kind?: typeof WINDOWS | typeof MAC;
    name?: string | null;
    info?: object;
  } = {},
): Promise<string> {
  const { extension, ...artifact } = kind;
  const filename = `App-${version}.${extension}`;
  const built = await makeArtifact(`${service.directory}/${version}`, {
    ...artifact,
    filename,
    content: filename,
  });
  const text = signFeed({ version, files: [describeContent(filename, filename)], ...info });
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const document = {
    path: '',
    bytes,
    size: bytes.length,
    sha256,
    stagingPercentage: null,
    lists: [],
    elsewhere: [],
  };
  const signed = name === null ? [] : [{ ...document, name }];
  await publish(service, { version, artifacts: [built], signed, ...request });
  await service.refresh();
  return text;
}

async function change(verb: StatusVerb, version: string): Promise<void> {
  const request = { application: 'desktop', channel: undefined, reason: null, version };
  await changeStatus({ ...service, actor: 'test' }, verb, request);
  await service.refresh();
}

function ask(file: string, headers: Record<string, string> = {}, at = service) {
  return at.app.http.inject({ url: `/feeds/desktop/stable/electron/${file}`, headers });
}

const from = (version: string) => ({ 'x-current-version': version });

function questionOf(version: string): UpdateQuery {
  const address = { application: 'desktop', channel: 'stable', path: ['latest.yml'] };
  const asked = { ...address, query: {}, headers: from(version), body: undefined };
  const question = electron.parseRequest(asked);
  if (question === undefined) throw new Error('latest.yml is a document of the dialect');
  return question.query;
}

const carriedKey = (version: string, name = 'latest.yml') =>
  artifactKey('desktop', carriedObject(version, 1, name));

describe('a signed release', () => {
  it('is served byte for byte, and a client with the key accepts it', async () => {
    const document = await release('2.0.0', { info: { stagingPercentage: 10 } });
    const { statusCode, body, headers } = await ask('latest.yml');
    expect([statusCode, body]).toEqual([200, document]);
    expect(isAccepted(body)).toBe(true);
    expect(headers['content-type']).toBe('text/yaml; charset=utf-8');
    expect(headers['cache-control']).toContain('public, max-age=60');
    const again = await ask('latest.yml', { 'if-none-match': String(headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  it('is found by platform and architecture, whatever its channel is called', async () => {
    const windows = await release('2.0.0', { name: 'beta.yml' });
    const mac = await release('2.0.0', { kind: MAC, name: 'latest-mac.yml' });
    expect((await ask('latest.yml')).body).toBe(windows);
    expect((await ask('latest.yml?arch=x64')).body).toBe(windows);
    expect((await ask('latest-mac.yml?arch=x64')).body).toBe(mac);
  });

  it('has a generated document where its publisher signed none', async () => {
    await release('2.0.0', { name: 'latest-mac.yml' });
    const { body } = await ask('latest.yml');
    expect(body).toContain("version: '2.0.0'");
    expect(isAccepted(body)).toBe(false);
  });

  it('is replaced by the one before it for clients outside its rollout', async () => {
    const first = await release('1.0.0');
    const second = await release('2.0.0', {
      rollout: { text: '0', freezeWindows: [] },
    });
    expect((await ask('latest.yml', { 'x-user-staging-id': 'a' })).body).toBe(first);
    expect(second).not.toBe(first);
  });
});

describe('a client that is offered nothing', () => {
  it('gets the signed document of its own release, because it trusts no other', async () => {
    const document = await release('1.0.0');
    for (const headers of [from('1.0.0'), from('v1.0.0'), from('1.0.0.4')]) {
      expect((await ask('latest.yml', headers)).body).toBe(document);
    }
  });

  it('also gets it when that release is paused or yanked', async () => {
    const document = await release('1.0.0');
    await change('pause', '1.0.0');
    expect((await ask('latest.yml', from('1.0.0'))).body).toBe(document);
    expect((await ask('latest.yml')).body).toContain("version: '0.0.0-0'");
    await change('yank', '1.0.0');
    expect((await ask('latest.yml', from('1.0.0'))).body).toBe(document);
  });

  it('also gets it from another channel, which it came from', async () => {
    await release('1.0.0');
    const beta = await release('2.0.0-beta.1', { channel: 'beta' });
    const { body, headers } = await ask('latest.yml', from('2.0.0-beta.1'));
    expect(body).toBe(beta);
    expect(headers['cache-control']).toContain('public');
    expect((await ask('latest.yml')).body).not.toBe(beta);
  });

  it('gets it from a restricted channel only with an account that may open it', async () => {
    const table = { free: [], pro: ['channel:desktop/insider'] };
    const restricting = await createTestService({
      store,
      clock: service.clock,
      env: { TIERS: JSON.stringify(table) },
    });
    try {
      await release('1.0.0');
      await release('2.0.0-beta.1', { channel: 'insider' });
      await restricting.refresh();
      const { body, headers } = await ask('latest.yml', from('2.0.0-beta.1'), restricting);
      expect(isAccepted(body)).toBe(false);
      // Another account may get the signed document.
      expect(headers).toMatchObject({ 'cache-control': expect.stringContaining('private') });
      expect(headers.vary).toContain('Authorization');
      const { catalog } = restricting.app;
      const deps = { catalog, clock: service.clock, tiers: parseTierTable(table) };
      const own = async (tier: string) =>
        (await listChannel(deps, questionOf('2.0.0-beta.1'), 0, tier, 'with_signed_documents')).own
          ?.version;
      expect([await own('free'), await own('pro')]).toEqual([undefined, '2.0.0-beta.1']);
      const usual = await ask('latest.yml', from('1.0.0'), restricting);
      expect(usual.headers['cache-control']).toContain('public');
    } finally {
      await restricting.close();
    }
  });

  it('gets a generated one for a version that the channel does not list', async () => {
    await release('1.0.0');
    expect((await ask('latest.yml', from('3.0.0'))).body).toContain("version: '3.0.0'");
  });
});

describe('a document that cannot be verified', () => {
  it.each([
    ['was altered', async (key: string) => service.store.create(key, Buffer.from('altered'))],
    ['is missing', async () => {}],
  ])('removes only its own offer when it %s', async (_what, replace) => {
    const first = await release('1.0.0');
    await release('2.0.0');
    await store.delete(carriedKey('2.0.0'));
    await replace(carriedKey('2.0.0'));
    const other = await createTestService({ store, clock: service.clock });
    try {
      await other.refresh();
      expect((await ask('latest.yml', {}, other)).body).toBe(first);
    } finally {
      await other.close();
    }
  });
});

describe('an outage', () => {
  it('does not affect a document that is in memory', async () => {
    const document = await release('2.0.0');
    store.goDown();
    expect((await ask('latest.yml')).body).toBe(document);
    expect((await ask('latest.yml', from('2.0.0'))).body).toBe(document);
  });
});
