import type { DocumentSignature } from '../../store/sequence/envelope.ts';
import type { PublicKey } from './public-key.ts';
import { isDetachedBy, type Signed, signDetached } from './revision-signature.ts';
import type { Signer } from './signer.ts';

/**
 * The signature of a release manifest by its maker, with a key of a channel. It says that this key made the manifest for
 * this channel, and nothing more: the role of the channel says what is offered.
 *
 * An operator can put any manifest into a draft. Without this signature, a command that signs for the channel would take
 * over the files of that manifest. The payload states the channel, so that a manifest for beta counts for no other
 * channel. The digest covers the version and the number.
 */

/** A name of a channel has no space. */
const signed = (channel: string, digest: string): Signed => ({
  type: 'slipway-release-manifest',
  payload: `${channel} ${digest}`,
});

/** @throws AppError `signer_failed` */
export function signManifest(
  signer: Signer,
  channel: string,
  digest: string,
): Promise<DocumentSignature> {
  return signDetached(signer, signed(channel, digest));
}

/** A manifest as its signatures see it. */
export interface SignedManifest {
  readonly digest: string;
  readonly signatures?: readonly DocumentSignature[] | undefined;
}

/**
 * Finds the keys that made a manifest for a channel.
 *
 * @param keys the keys of the channel, by their ids
 * @returns the ids of the keys; empty: no key of the channel made it
 */
export async function findMakers(
  keys: ReadonlyMap<string, PublicKey>,
  channel: string,
  { digest, signatures = [] }: SignedManifest,
): Promise<readonly string[]> {
  const makers: string[] = [];
  for (const signature of signatures) {
    const key = keys.get(signature.key_id);
    const isMaker =
      key !== undefined && (await isDetachedBy(key, signature, signed(channel, digest)));
    if (isMaker) makers.push(key.id);
  }
  return makers;
}
