import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderMetadata } from '../../src/catalog/trust/metadata.ts';
import type { TrustRoot } from '../../src/catalog/trust/root.ts';
import type { Signer } from '../../src/catalog/trust/signer.ts';
import type { Trust } from '../../src/catalog/trust/trust.ts';
import type { Clock, Randomness } from '../../src/core/clock.ts';
import { systemRandomness } from '../../src/core/system.ts';
import type { Load } from '../../src/server/limits/load.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { createHastyClock } from './clock.ts';
import { openDirectoryStore } from './directory-store.ts';
import { makeTemporaryDirectory, publish } from './release.ts';
import { createTestService, type TestService } from './service.ts';
import { initTrust, keysOf, makeSigner, type RootOptions, trusting } from './trust.ts';

/** A service with a root of trust. */
export interface SignedService {
  readonly service: TestService;
  /** The root that the service, the publishers and the applications have. */
  readonly root: TrustRoot;
  readonly rootFile: string;
  /** The trust of a publisher with all keys. */
  readonly trust: Trust;
  readonly signers: readonly Signer[];
  /** Publishes with all keys, and makes the service load the release. */
  publish(request: Parameters<typeof publish>[1]): Promise<void>;
  close(): Promise<void>;
}

/** One key signs everything, unless `root` says otherwise. */
export async function createSignedService({
  root: given,
  signers = [makeSigner('one')],
  env = {},
  clock = createHastyClock(),
  randomness = systemRandomness,
  store,
  load,
}: {
  readonly root?: (signers: readonly Signer[]) => RootOptions;
  readonly signers?: readonly Signer[];
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** Default: a directory store. */
  readonly store?: ObjectStore;
  readonly load?: Load;
} = {}): Promise<SignedService> {
  const temporary = await makeTemporaryDirectory();
  const directory = path.join(temporary.path, 'data');
  const parts = {
    store: store ?? (await openDirectoryStore(path.join(directory, 'objects'))),
    clock,
    randomness,
  };
  const all = keysOf(1, ...signers);
  const options = given?.(signers) ?? {
    people: all,
    operators: signers,
    channels: { stable: all, beta: all },
  };
  const root = await initTrust(parts, options, ...signers);
  const rootFile = path.join(temporary.path, 'root.json');
  await writeFile(rootFile, renderMetadata(root.json));
  const service = await createTestService({
    clock,
    randomness,
    env: { ...(store === undefined ? { DATA_DIR: directory } : {}), TRUST_ROOT: rootFile, ...env },
    ...(store === undefined ? {} : { store }),
    ...(load === undefined ? {} : { load }),
  });
  const trust = trusting(parts, [root], ...signers);
  return {
    service,
    root,
    rootFile,
    trust,
    signers,
    publish: async (request) => {
      await publish({ ...parts, trust }, request);
      await service.refresh();
    },
    close: async () => {
      await service.close();
      await temporary.remove();
    },
  };
}
