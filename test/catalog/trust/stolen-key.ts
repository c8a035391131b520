import { roleKey } from '../../../src/catalog/documents/keys.ts';
import type { RevisionJson } from '../../../src/catalog/documents/revision-document.ts';
import { readLastRevisionNumber, readRevision } from '../../../src/catalog/reading/read.ts';
import { createFreshness, type FreshRevision } from '../../../src/catalog/trust/freshness.ts';
import {
  digestOfSigned,
  renderMetadata,
  signMetadata,
} from '../../../src/catalog/trust/metadata.ts';
import type { Signer } from '../../../src/catalog/trust/signer.ts';
import type { WriterDeps } from '../../../src/catalog/writing/change.ts';
import { commitRoot, signRoot } from '../../../src/features/trust/change-root.ts';
import { readText } from '../../support/objects.ts';
import {
  contentOfRoot,
  FRESH_MS,
  keysOf,
  makeSigner,
  type RootOptions,
} from '../../support/trust.ts';
import type { World } from '../live/live-catalog.ts';
import { ci, k1, k2, k3, must, type TrustedWorld } from './trusted-world.ts';

/** What a thief of an operator's key does, and how the people change their keys then. */

/** The key of a service, which is no key of a channel. */
export const svc = makeSigner('svc');
export const ci2 = makeSigner('ci2');
export const OPTIONS: RootOptions = {
  people: keysOf(2, k1, k2, k3),
  operators: [svc, k1],
  channels: { stable: keysOf(2, k1, k2, k3), beta: keysOf(1, ci) },
  roles: {},
};
export const WITHOUT_SVC = { ...OPTIONS, operators: [k1] };
export const WITHOUT_CI = {
  ...OPTIONS,
  channels: { stable: keysOf(2, k1, k2, k3), beta: keysOf(1, ci2) },
};

export const names = (signed: RevisionJson) => must(must(signed.trust).channels);

const isWhole = (state: Partial<FreshRevision>): state is FreshRevision =>
  Object.keys(state).length === 3;

export const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: Error) => error.message,
  );

/** The numbers that a message tells the operator to skip. */
export const printedSkips = (message: string): number[] =>
  [...message.matchAll(/--skip-corrupt (\d+)/g)].map(([, number]) => Number(number));

/** @param world the store of the present test */
export function useStolenKey(
  { present, presentState, publisher }: TrustedWorld,
  world: () => World,
) {
  /** Changes the root as `slipway trust remove`, `add` and `rotate` do, with --skip-corrupt. */
  async function changeKeys(
    before: RootOptions,
    after: RootOptions,
    { removed = [], skip = [] }: { removed?: readonly Signer[]; skip?: readonly number[] } = {},
  ) {
    const people = [k1, k2, ...(after === WITHOUT_CI ? [ci2] : [])];
    const deps = { ...publisher(...people), skipCorrupt: skip };
    const distrusted = new Set(removed.map(({ key }) => key.id));
    const known = must(deps.trust.of('desktop'));
    const { version } = await known.newestRoot();
    known.distrust(distrusted);
    const newest = await readRevision(deps, 'desktop');
    const firstRevision = (await readLastRevisionNumber(deps, 'desktop')) + 1;
    const roles = newest?.signed.trust?.channels ?? {};
    const next = { ...contentOfRoot(world().parts, { ...after, firstRevision, roles }) };
    const previous = { ...contentOfRoot(world().parts, before), version };
    const signed = await signRoot({ ...next, version: version + 1 }, previous, people);
    const change = (given: WriterDeps) => {
      const trust = deps.trust.signingWith(people, given.store);
      trust.of('desktop')?.distrust(distrusted);
      return commitRoot(given, signed, { trust, reason: 'root' });
    };
    return change(deps);
  }

  /** A role of a channel that says what its present role says, with another version and other signatures. */
  async function storeRole(
    channel: string,
    edit: (signed: Record<string, unknown>) => object,
    ...signers: readonly Signer[]
  ) {
    const named = must(names(await present())[channel]);
    const stored = JSON.parse(
      must(await readText(world().memory, roleKey('desktop', channel, named))),
    );
    const signed = { ...stored.signed, ...edit(stored.signed) };
    const reference = { version: Number(signed.version), digest: digestOfSigned(signed) };
    const metadata = await signMetadata(signed, signers);
    await world().memory.create(roleKey('desktop', channel, reference), renderMetadata(metadata));
    return reference;
  }

  /** Signs a timestamp with any content. */
  async function signTimestamp(
    signer: Signer,
    given: Partial<FreshRevision>,
    after = 0,
    freshMs = FRESH_MS,
  ) {
    const { store, clock } = world().parts;
    return createFreshness(
      { store, clock, application: 'desktop' },
      {
        state: isWhole(given) ? given : { ...(await presentState()), ...given },
        signer,
        after,
        now: clock.now(),
        freshMs,
      },
    );
  }

  return { changeKeys, storeRole, signTimestamp };
}
