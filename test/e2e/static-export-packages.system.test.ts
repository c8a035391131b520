import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slipway } from '../cli/support.ts';
import {
  type BuiltPackage,
  buildPackages,
  hashOf,
  type PackageBuild,
  publishPackages,
} from '../support/nupkg-build.ts';
import { hasProgram } from '../support/programs.ts';
import { createTestService, type TestService } from '../support/service.ts';
import { createSquirrelClient } from '../support/squirrel-client.ts';
import { type StaticServer, startStaticServer } from '../support/static-server.ts';
import { updateWithVelopack } from '../support/velopack-client.ts';

/** An export of packages on a plain static server: the real Velopack, and the real classes of Squirrel.Windows. */

const hasMono = (await hasProgram('mono')) && (await hasProgram('mcs'));
const VERSIONS = ['1.0.0', '1.1.0', '1.2.0'];

let service: TestService;
let server: StaticServer;
let squirrelBuilds: readonly PackageBuild[];
let newest: BuiltPackage | undefined;

beforeAll(async () => {
  service = await createTestService({ store: 'directory' });
  const publishAll = async (...args: Parameters<typeof buildPackages>) => {
    const builds = await buildPackages(...args);
    for (const build of builds) await publishPackages(service, build);
    return builds;
  };
  squirrelBuilds = await publishAll('squirrel', service.directory, VERSIONS);
  const linux = { id: 'Notes', channel: 'linux', rid: 'linux-x64' };
  newest = (await publishAll('velopack', service.directory, VERSIONS, linux)).at(-1)?.full;
  const target = path.join(service.directory, 'public');
  server = await startStaticServer(target);
  const data = { DATA_DIR: service.config.dataDirectory };
  const env = { ...data, PUBLIC_URL: server.url, LEGACY_ADDRESSES: 'hazel' };
  const { code, stderr } = await slipway(['export', target], { cwd: service.directory, env });
  expect([code, stderr]).toEqual([0, '']);
});
afterAll(async () => {
  await server.close();
  await service.close();
});

it('Velopack updates from any version, and has nothing to do at the newest', async () => {
  const feed = `${server.url}/feeds/desktop/stable/velopack`;
  const ask = (version: string) =>
    updateWithVelopack(service.directory, feed, { version, channel: 'linux' });
  for (const version of ['0.5.0', '1.0.0', '1.1.0']) {
    const update = await ask(version);
    expect([version, update?.asset.Version]).toEqual([version, '1.2.0']);
    const bytes = update?.file.bytes ?? Buffer.alloc(0);
    expect(hashOf('sha256', bytes)).toBe(hashOf('sha256', newest?.bytes ?? Buffer.alloc(1)));
  }
  expect(await ask('1.2.0')).toBeNull();
});

describe.runIf(hasMono)('Squirrel.Windows', () => {
  it.each(['the feed', 'the address of Hazel'])('updates from %s', async (address) => {
    const squirrel = await createSquirrelClient(path.join(service.directory, address));
    for (const [index, { version, full }] of squirrelBuilds.entries()) {
      const below =
        address === 'the feed'
          ? 'feeds/desktop/stable/squirrel-windows'
          : `update/win32/${version}`;
      const update = await squirrel.ask('update', `${server.url}/${below}`, full);
      const deltas = squirrelBuilds.slice(index + 1).map(({ delta }) => delta?.bytes);
      expect([update.error, update.future?.version]).toEqual([undefined, '1.2.0']);
      const sizes = [...update.files.values()].map(({ length }) => length);
      expect(sizes).toEqual(deltas.map((bytes) => bytes?.length));
      for (const bytes of deltas) {
        expect([...update.files.values()].some((file) => bytes?.equals(file))).toBe(true);
      }
    }
  });
});
