import { generateKeyPairSync, sign } from 'node:crypto';
import type { TrustJson } from '../../src/catalog/documents/trust-document.ts';
import type { ChannelKeys } from '../../src/catalog/trust/channel-role.ts';
import { createTrust } from '../../src/catalog/trust/create-trust.ts';
import { publicKeyOf } from '../../src/catalog/trust/public-key.ts';
import type { TrustRoot } from '../../src/catalog/trust/root.ts';
import type { Signer } from '../../src/catalog/trust/signer.ts';
import type { Trust } from '../../src/catalog/trust/trust.ts';
import type { WriterDeps } from '../../src/catalog/writing/change.ts';
import { commitRoot, signRoot } from '../../src/features/trust/change-root.ts';
import type { RootContent } from '../../src/features/trust/root-content.ts';
import type { PublisherParts } from './release.ts';

/** A key pair of a test. It exists only in this process. */
export function makeSigner(name: string, kind: 'ed25519' | 'p256' = 'ed25519'): Signer {
  const { privateKey, publicKey } =
    kind === 'p256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('ed25519');
  const hash = kind === 'p256' ? 'sha256' : null;
  const key = publicKeyOf(publicKey);
  return { key, name, sign: async (bytes) => sign(hash, bytes, privateKey) };
}

export function keysOf(threshold: number, ...signers: readonly Signer[]): ChannelKeys {
  return { threshold, keys: new Map(signers.map(({ key }) => [key.id, key])) };
}

export const FRESH_MS = 7 * 86_400_000;

/** The trust of a process with these roots and keys. */
export function trusting(
  { store, clock }: Pick<PublisherParts, 'store' | 'clock'>,
  roots: readonly TrustRoot[],
  ...signers: readonly Signer[]
): Trust {
  return createTrust({
    store,
    clock,
    roots: new Map(roots.map((root) => [root.application, root])),
    unsigned: new Set(),
    signers: async () => signers,
    freshMs: FRESH_MS,
  });
}

export interface RootOptions {
  readonly application?: string;
  readonly people: ChannelKeys;
  readonly operators?: readonly Signer[];
  readonly channels?: Readonly<Record<string, ChannelKeys>>;
  /** The number of the first signed revision. */
  readonly firstRevision?: number;
  /** The roles that the root states. Absent: it states none, as roots of before did. */
  readonly roles?: TrustJson['channels'];
}

export function contentOfRoot(
  { clock }: Pick<PublisherParts, 'clock'>,
  { application = 'desktop', people, operators = [], channels = {}, ...given }: RootOptions,
): RootContent {
  return {
    application,
    version: 1,
    expiresAt: clock.now() + 365 * 86_400_000,
    firstRevision: given.firstRevision ?? 1,
    people,
    operators: new Map(operators.map(({ key }) => [key.id, key])),
    channels: new Map(Object.entries(channels)),
    roles: given.roles && new Map(Object.entries(given.roles)),
    names: new Map(),
  };
}

/** Makes a root and the first signed revision, as `slipway trust init` does. */
export async function initTrust(
  parts: PublisherParts,
  options: RootOptions,
  ...signers: readonly Signer[]
): Promise<TrustRoot> {
  const signed = await signRoot(contentOfRoot(parts, options), undefined, signers);
  const deps: WriterDeps = { ...parts, actor: 'test', trust: undefined };
  const trust = trusting(parts, [signed.root], ...signers);
  await commitRoot(deps, signed, { trust, reason: 'root 1' });
  return signed.root;
}
