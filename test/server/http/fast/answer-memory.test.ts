import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareHeaders } from '../../../../src/server/http/fast/prepared-headers.ts';
import { shareAnswer } from '../../../../src/server/http/fast/shared-answer.ts';
import { createConnections } from '../../../../src/server/limits/connections.ts';
import { buildBase } from '../../../../src/server/set-up/base-server.ts';
import { PROTOCOLS } from '../../../../src/updaters/registry.ts';
import { createFixedClock } from '../../../support/clock.ts';
import { buildPackages, publishPackages } from '../../../support/nupkg-build.ts';
import { LATEST_VERSION, release, setStatus } from '../../support.ts';
import {
  answerTo,
  countRouted,
  expectSame,
  expectSameRecords,
  FEED,
  MACHINES,
  openPair,
  type Pair,
  withoutIds,
} from './answer-memory-pair.ts';

/** With these headers, a request goes to its route. */
const FOR_ROUTES = ['authorization', 'cookie', 'content-length', 'transfer-encoding'];
/** The memory reads these headers with the functions of the routes and hooks. */
const READ_ALIKE = ['if-none-match', 'x-request-id', 'x-forwarded-for'];
/** While no rollout is partial, these ids decide nothing. */
const IDS = ['x-user-staging-id', 'x-installation-id'];
/** Node and Fastify read it to end the connection, and the memory leaves it to Node. */
const FOR_NODE = ['connection'];
const VARYING = [...new Set(PROTOCOLS.flatMap(({ varyHeaders }) => varyHeaders))];

const text = (target: string, ...headers: string[]): string =>
  [`GET ${target} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');
const last = (target: string, ...headers: string[]): string =>
  text(target, ...headers, 'Connection: close');

describe('the memory of answers', () => {
  let pair: Pair;
  let routed: ReturnType<typeof countRouted>;
  beforeAll(async () => {
    pair = await openPair();
    routed = countRouted(pair);
    await release(pair.publisher, '1.0.0', MACHINES);
    await release(pair.publisher, '1.1.0', MACHINES);
    await pair.refresh();
  });
  afterAll(async () => {
    routed.stop();
    await pair.close();
  });

  /** The number of the given requests that reach a route, when an earlier request has the plain address. */
  async function routedOf(target: string, bytes: string): Promise<number> {
    // The first answer may wait for the disk, and is then not remembered.
    for (let time = 1; time <= 2; time++) await expectSame(pair, last(target));
    const before = routed.count();
    await expectSame(pair, bytes);
    return routed.count() - before;
  }

  it.each([
    LATEST_VERSION,
    FEED,
    '/feeds/desktop/stable/sparkle/appcast.xml',
    '/update/win32/1.0.0',
  ])('repeats the answer of %s, with its line in the log and its counts', async (target) => {
    expect(await routedOf(target, text(target).repeat(3) + last(target))).toBe(0);
    await expectSameRecords(pair);
  });

  it('repeats the answer for every value of noCache', async () => {
    const other =
      text(`${LATEST_VERSION}?noCache=2`) + last(`${LATEST_VERSION}?noCache=3&noCache=4`);
    expect(await routedOf(LATEST_VERSION, other)).toBe(0);
  });

  it.each([
    ['authorization', '0'],
    ['cookie', '0'],
    ['content-length', '0'],
    ['transfer-encoding', 'chunked'],
    ['host', 'another'],
  ] as const)('leaves a request with %s to the route', async (name, value) => {
    const body = name === 'transfer-encoding' ? '0\r\n\r\n' : '';
    // A request with a second Host is refused before its route.
    const reaches = name === 'host' ? 0 : 1;
    const wanted = `${text(FEED, `${name}: ${value}`)}${body}${last('/livez')}`;
    const ofLivez = await routedOf('/livez', last('/livez'));
    expect((await routedOf(FEED, wanted)) - ofLivez).toBe(reaches);
    await expectSameRecords(pair);
  });

  it.each([...READ_ALIKE, ...IDS])('answers a request with %s', async (name) => {
    expect(await routedOf(FEED, last(FEED, `${name}: 203.0.113.9:80`))).toBe(0);
    await expectSameRecords(pair);
  });

  it.each(VARYING)('leaves a request to a dialect that reads %s', async (name) => {
    const [dialect] = PROTOCOLS.filter(({ varyHeaders }) => varyHeaders.includes(name));
    const target = `/feeds/desktop/stable/${dialect?.name}/${dialect?.name === 'electron' ? 'latest.yml' : 'darwin/arm64/1.0.0'}`;
    expect(await routedOf(target, last(target, `${name}: 1.0.0`))).toBe(1);
  });

  it('knows every header that the routes and the hooks read', async () => {
    const read = new Set<string>();
    const { server } = pair.plain.service.app.http;
    const record = (request: IncomingMessage): void => {
      const note = (name: string | symbol): void => {
        if (typeof name === 'string') read.add(name);
      };
      const headers = new Proxy(request.headers, {
        get: (target, name) => {
          note(name);
          return Reflect.get(target, name);
        },
        has: (target, name) => {
          note(name);
          return Reflect.has(target, name);
        },
        ownKeys: (target) => {
          note('every header');
          return Reflect.ownKeys(target);
        },
      });
      Object.defineProperty(request, 'headers', { value: headers });
    };
    server.prependListener('request', record);
    const targets = [LATEST_VERSION, FEED, '/update/win32/1.0.0'].concat(
      '/feeds/desktop/stable/squirrel-mac/darwin/arm64/1.0.0',
      '/feeds/desktop/stable/sparkle/appcast.xml',
      '/feeds/desktop/stable/tauri/windows/x86_64/1.0.0',
    );
    for (const target of targets) await answerTo(pair.plain.port, last(target));
    server.off('request', record);
    const known = [...FOR_ROUTES, ...READ_ALIKE, ...IDS, ...FOR_NODE, ...VARYING].sort();
    expect([...read].filter((name) => name !== 'cookie').sort()).toEqual(
      known.filter((name) => name !== 'cookie'),
    );
  });

  it('keeps addresses apart whose dialect reads the last parameter, whatever its name is', async () => {
    const appcast = '/feeds/desktop/stable/netsparkle/appcast.xml';
    const addresses = [appcast, LATEST_VERSION, FEED].flatMap((target) =>
      [
        '',
        '?noCache=1.signature',
        '?noCache=1%2Esignature',
        '?os=x.signature&noCache=1',
        '?noCache=1',
      ].map((query) => `${target}${query}`),
    );
    /** Asks new services, because a service can take one address for another only after it has answered the other. */
    const ask = async (order: readonly string[]): Promise<Map<string, string>> => {
      const { remembering, plain, close } = await openPair(pair.publisher.store);
      const answers = new Map<string, string>();
      for (const { port } of [plain, remembering]) {
        for (const address of order) {
          const answer = await answerTo(port, last(address));
          const known = answers.get(address);
          if (known !== undefined) expect(withoutIds(answer)).toBe(known);
          answers.set(address, withoutIds(answer));
        }
      }
      await close();
      return answers;
    };
    const forwards = await ask([...addresses, ...addresses]);
    const backwards = await ask([...addresses].reverse());
    for (const address of addresses) expect(forwards.get(address)).toBe(backwards.get(address));
    expect(forwards.get(`${appcast}?noCache=1.signature`)).not.toBe(forwards.get(appcast));
  });

  it('repeats a document of Velopack for other installations, and not while a rollout is partial', async () => {
    const own = await openPair();
    const ownRouted = countRouted(own);
    const target = '/feeds/desktop/stable/velopack/releases.win.json?localVersion=1.0.0&id=App';
    const ask = async (id: number): Promise<number> => {
      const before = ownRouted.count();
      await expectSame(own, last(`${target}&stagingId=${id}`));
      return ownRouted.count() - before;
    };
    const directory = own.publisher.directory;
    const [one, two] = await buildPackages('velopack', directory, ['1.0.0', '1.1.0']);
    if (one === undefined || two === undefined) throw new Error('There are no packages.');
    await publishPackages(own.publisher, one);
    await own.refresh();
    await ask(1);
    await ask(2);
    expect([await ask(3), await ask(4)]).toEqual([0, 0]);
    const rollout = { text: '50%', freezeWindows: [] };
    await publishPackages(own.publisher, two, { rollout });
    await own.refresh();
    for (let id = 5; id < 25; id++) expect(await ask(id)).toBe(1);
    await expectSameRecords(own);
    ownRouted.stop();
    await own.close();
  });

  it('forgets an answer when the catalog has another revision', async () => {
    await setStatus(pair.publisher, 'pause', '1.1.0');
    await pair.refresh();
    expect(await answerTo(pair.remembering.port, last(LATEST_VERSION))).toContain(
      '"version":"1.0.0"',
    );
    await setStatus(pair.publisher, 'resume', '1.1.0');
    await pair.refresh();
    expect(await answerTo(pair.remembering.port, last(LATEST_VERSION))).toContain(
      '"version":"1.1.0"',
    );
  });

  it('leaves requests to the routes while there is too much load', async () => {
    await expectSame(pair, last(FEED));
    pair.load.set(true);
    expect(await answerTo(pair.remembering.port, last(FEED))).toContain('HTTP/1.1 503');
    pair.load.set(false);
  });

  it('leaves requests to the routes once the catalog was confirmed too long ago', async () => {
    await expectSame(pair, last(FEED));
    pair.clock.advance(30 * 24 * 3_600_000);
    expect(await answerTo(pair.remembering.port, last(FEED))).toContain('HTTP/1.1 503');
    await pair.refresh();
  });

  it('asks clients to close the connection while the process drains', async () => {
    const own = await openPair();
    await release(own.publisher, '1.0.0', MACHINES);
    await own.refresh();
    const socket = connect({ port: own.remembering.port, host: '127.0.0.1' });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(text(FEED) + text(FEED));
    await expect.poll(() => received.split('HTTP/1.1 200').length).toBe(3);
    expect(received).not.toContain('onnection: close');
    own.remembering.service.app.drain();
    socket.write(text(FEED));
    await expect.poll(() => received).toMatch(/connection: close/i);
    socket.destroy();
    await own.close();
  });
});

const ROUTE = { count: () => {}, varyHeaders: [], ignoresPersonal: true };

describe('a memory of answers with limits', () => {
  const answer = shareAnswer({ 'content-type': 'text/plain' }, 'the same for all');

  async function open() {
    const clock = createFixedClock();
    const logger = pino({ level: 'silent' });
    const limits = { connectionsMax: 10, heldBytesMax: 1_000_000, because: '' };
    const connections = createConnections({ limits, bodyBytesMax: 1_000, clock, log: logger });
    let isRefused = false;
    const app = await buildBase(
      {
        ...{ logger, clock, trustProxy: false },
        connections: {
          ...connections,
          of: (socket) => {
            const connection = connections.of(socket);
            if (connection !== undefined && isRefused) connection.isRefused = true;
            return connection;
          },
        },
      },
      new Registry(),
    );
    let routed = 0;
    app.get('/any', (_request, reply) => {
      routed++;
      reply.sendPrepared(200, answer.headers, answer.body);
      reply.remember(answer, { isCurrent: () => true, ...ROUTE });
    });
    app.get('/own', (_request, reply) => {
      routed++;
      const own = { ...answer, isShared: false };
      reply.sendPrepared(200, prepareHeaders({}), 'own');
      reply.remember(own, { isCurrent: () => true, ...ROUTE });
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const ask = async (target: string): Promise<number> => {
      const { status, body } = await fetch(url + target);
      await body?.cancel();
      return status;
    };
    return { ask, app, routed: () => routed, refuse: () => (isRefused = true) };
  }

  it('drops the oldest answer', async () => {
    const { ask, app, routed } = await open();
    for (let index = 0; index < 513; index++) await ask(`/any?${index}`);
    expect(routed()).toBe(513);
    await ask('/any?512');
    await ask('/any?1');
    expect(routed()).toBe(513);
    await ask('/any?0');
    expect(routed()).toBe(514);
    await app.close();
  });

  it('remembers no long address, and no answer to one client', async () => {
    const { ask, app, routed } = await open();
    for (const target of [`/any?${'a'.repeat(520)}`, `/any?noCache=${'a'.repeat(520)}`, '/own']) {
      for (let count = 0; count < 2; count++) await ask(target);
    }
    expect(routed()).toBe(6);
    await app.close();
  });

  it('leaves a connection without memory to the hooks', async () => {
    const { ask, app, refuse } = await open();
    expect([await ask('/any'), await ask('/any')]).toEqual([200, 200]);
    refuse();
    expect(await ask('/any')).toBe(503);
    await app.close();
  });

  it('does not keep a connection open when the server closes after the answer', async () => {
    const { ask, app } = await open();
    await ask('/any');
    const closed = app.close();
    await Promise.race([closed, sleep(10_000).then(() => Promise.reject(new Error('still open')))]);
  });
});
