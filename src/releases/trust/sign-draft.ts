import { z } from 'zod';
import type { DraftJson } from '../../catalog/documents/draft-document.ts';
import { roleSignatureKey } from '../../catalog/documents/keys.ts';
import {
  channelIn,
  type OfferJson,
  type RevisionJson,
} from '../../catalog/documents/revision-document.ts';
import type { MetadataReference } from '../../catalog/documents/trust-document.ts';
import { optionOf } from '../../catalog/reading/draft-text.ts';
import { describeDraft, draftIn, listDrafts } from '../../catalog/reading/list-drafts.ts';
import { readRevision } from '../../catalog/reading/read.ts';
import { unknownApplication } from '../../catalog/reading/unknown-release.ts';
import type { ApplicationTrust } from '../../catalog/trust/application-trust.ts';
import {
  type ChannelKeys,
  signedSettingsOf,
  statementDigest,
  targetPath,
  targetsOf,
} from '../../catalog/trust/channel-role.ts';
import {
  createMetadataObject,
  digestOfSigned,
  ignoreCorrupt,
  type MetadataJson,
  readMetadataObject,
  signedBytes,
  signMetadata,
  tufTime,
} from '../../catalog/trust/metadata.ts';
import { isTufSignatureOf, shortId } from '../../catalog/trust/public-key.ts';
import { keyList, keyText, type TrustRoot } from '../../catalog/trust/root.ts';
import type { Signer } from '../../catalog/trust/signer.ts';
import type { Trust } from '../../catalog/trust/trust.ts';
import type { WriterDeps } from '../../catalog/writing/change.ts';
import { nextRole, ROLE_VALID_MS, storeRole } from '../../catalog/writing/next-role.ts';
import { AppError } from '../../core/errors.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { incomplete, noDraft } from '../offer/draft-rules.ts';

/**
 * Collects the signatures of a release that waits for them. Each person signs the next version of the channel's role,
 * which everybody computes alike from the present version and the draft. Each signature is an object of its own, under
 * the digest of that version, so that two people who sign at the same time do not disturb each other.
 */

/** A draft that waits for signatures, and the version of the role that offers it. */
export interface WaitingRelease {
  readonly application: string;
  readonly channel: string;
  readonly draft: DraftJson;
  readonly revision: RevisionJson;
  readonly root: TrustRoot;
  readonly keys: ChannelKeys;
  /** The `signed` part of the next version of the role. */
  readonly next: MetadataJson['signed'];
  readonly digest: string;
  /** The valid signatures that the store has. */
  readonly signatures: MetadataJson['signatures'];
}

type SignDeps = Pick<WriterDeps, 'store' | 'clock' | 'newestKnown' | 'skipCorrupt'> & {
  readonly trust: Trust;
};

/**
 * Reads a draft with its signatures.
 *
 * @param known the newest revision; absent: this function reads it
 * @returns undefined when the channel offers the release already
 * @throws AppError `unknown_version` without a draft; `release_incomplete` when expected builds are missing;
 *   `status_forbids` for a channel whose releases need no signatures
 */
export async function readWaiting(
  deps: SignDeps,
  trust: ApplicationTrust,
  { channel: name, version }: { readonly channel: string; readonly version: string },
  known?: RevisionJson,
): Promise<WaitingRelease | undefined> {
  const { application } = trust;
  const revision = known ?? (await readRevision(deps, application))?.signed;
  if (revision === undefined) throw await unknownApplication(deps, application);
  const number = revision.revision + 1;
  const { channels } = await trust.delegationsAt(number);
  const keys = channels.get(name);
  if (keys === undefined) {
    throw new AppError(
      'status_forbids',
      channels.size === 0
        ? `Releases of ${application} need no signatures by people: its root of trust names no keys for channels.`
        : `The root of trust of ${application} names no keys for ${name}, so it offers nothing. Add them: slipway trust add --channel ${name}=NAME.pub:1.`,
    );
  }
  const channel = channelIn(revision.channels, name);
  const role = (await trust.rolesOf({ ...revision, revision: number }))?.get(name);
  const offer = channel?.offers.find((each) => each.version === version);
  const isUncovered =
    offer !== undefined &&
    role?.statements.get(targetPath(application, name, offer)) !== statementDigest(offer);
  const draft =
    channel === undefined
      ? undefined
      : (draftIn(channel, version) ?? (isUncovered ? draftOfOffer(offer) : undefined));
  if (channel === undefined || draft === undefined) {
    if (offer !== undefined) return undefined;
    throw noDraft(revision.channels, version, name);
  }
  const { missing } = describeDraft(name, draft);
  // Another build would make another manifest, and all signatures would be void.
  if (missing.length > 0) throw incomplete(version, name, missing);
  const root = await trust.newestRoot();
  const next = await nextRole(deps, {
    application,
    name,
    // Nobody who signs a release changes the settings of its channel.
    settings: role ?? signedSettingsOf(channel),
    version: (revision.trust?.channels?.[name]?.version ?? 0) + 1,
    // The role keeps all earlier releases, because an operator may retire one between two signatures.
    kept: targetsOf(role),
    adding: [draft],
    expires: tufTime(Math.max(Date.parse(draft.since) + ROLE_VALID_MS, root.expiresAt)),
  });
  const digest = digestOfSigned(next);
  const signatures = await readSignatures(deps.store, application, { digest, next, keys });
  return { application, channel: name, draft, revision, root, keys, next, digest, signatures };
}

/** The most drafts whose signatures a list reads. */
const LISTED_MAX = 20;

/**
 * Says for each draft that waits for signatures whose signatures are missing, by `VERSION CHANNEL`.
 *
 * @throws AppError `store_unavailable`, `store_denied`, `document_corrupt`
 */
export async function describeWaiting(
  deps: SignDeps,
  revision: RevisionJson,
): Promise<ReadonlyMap<string, string>> {
  const trust = deps.trust.of(revision.application);
  const sentences = new Map<string, string>();
  if (trust === undefined) return sentences;
  const drafts = listDrafts(revision)
    .filter(({ draft, missing }) => draft.opens === 'when_signed' && missing.length === 0)
    .slice(0, LISTED_MAX);
  for (const { channel, draft } of drafts) {
    const { version } = draft;
    const waiting = await readWaiting(deps, trust, { channel, version }, revision);
    if (waiting === undefined) continue;
    const { keys, root, signatures } = waiting;
    const count = keys.threshold - signatures.length;
    const others = [...keys.keys.keys()].filter((id) =>
      signatures.every(({ keyid }) => keyid !== id),
    );
    sentences.set(
      `${version} ${channel}`,
      `waits for ${count} of these signatures: ${keyList(root, others)}. Run "slipway sign ${version}${optionOf(channel)} --key FILE"`,
    );
  }
  return sentences;
}

/** An offer whose signatures were lost waits like a draft. Its date is fixed, so that all people sign the same version. */
function draftOfOffer(offer: OfferJson): DraftJson {
  const { status: _status, reason: _reason, rollout: _rollout, ...statement } = offer;
  return { ...statement, since: offer.released_at, opens: 'when_signed' };
}

const signatureSchema = z.object({ keyid: z.string(), sig: z.string() });
/** The limit is in bytes. */
const SIGNATURE_BYTES_MAX = 4_096;

async function readSignatures(
  store: ObjectStore,
  application: string,
  { digest, next, keys }: Pick<WaitingRelease, 'digest' | 'next' | 'keys'>,
): Promise<MetadataJson['signatures']> {
  const bytes = signedBytes(next);
  const found: MetadataJson['signatures'] = [];
  // Asks for the objects of the known keys only: an attacker can store any number of others.
  for (const [id, key] of keys.keys) {
    const stored = await readMetadataObject(store, roleSignatureKey(application, digest, id), {
      bytesMax: SIGNATURE_BYTES_MAX,
    }).catch(ignoreCorrupt);
    const given = stored && parseSignature(stored);
    if (given?.keyid === id && isTufSignatureOf(key, bytes, given.sig)) found.push(given);
  }
  return found;
}

function parseSignature(bytes: Uint8Array): z.output<typeof signatureSchema> | undefined {
  try {
    return signatureSchema.safeParse(JSON.parse(Buffer.from(bytes).toString())).data;
  } catch {
    // The next line of the report says that the signature is missing.
    return undefined;
  }
}

export interface SignedRelease {
  /** The names of the keys that have signed, with the signatures of this call. */
  readonly signedBy: readonly string[];
  /** The names of the keys that have not signed. */
  readonly waitsFor: readonly string[];
  /** The version of the role with enough signatures; undefined: more signatures are needed. */
  readonly role: MetadataReference | undefined;
}

/**
 * Signs with each key of the channel, and stores the signatures. When they are enough, stores the version of the role.
 *
 * @throws AppError `key_required` when no key of the channel is given; `signer_failed`
 */
export async function signWaiting(
  deps: SignDeps,
  trust: ApplicationTrust,
  { application, channel, revision, root, keys, next, digest, signatures }: WaitingRelease,
  signers: readonly Signer[],
): Promise<SignedRelease> {
  const signing = signers.filter(({ key }) => keys.keys.has(key.id));
  if (signing.length === 0) throw noKey(root, channel, keys, signers);
  const fresh = signing.filter(({ key }) => signatures.every(({ keyid }) => keyid !== key.id));
  const made = await signMetadata(next, fresh);
  for (const signature of made.signatures) {
    const key = roleSignatureKey(application, digest, signature.keyid);
    const bytes = Buffer.from(`${JSON.stringify(signature)}\n`);
    if ((await createMetadataObject(deps, key, bytes)) === 'created') continue;
    // The answer to an earlier attempt was lost, or another process signs with the same key.
    const stored = await readSignatures(deps.store, application, { digest, next, keys });
    if (stored.every(({ keyid }) => keyid !== signature.keyid)) {
      throw new AppError(
        'status_forbids',
        `The store has another ${key}, which is no valid signature. Delete it, and sign again.`,
      );
    }
  }
  // Another person may have signed meanwhile.
  const others = await readSignatures(deps.store, application, { digest, next, keys });
  const own = new Set(made.signatures.map(({ keyid }) => keyid));
  const all = [...made.signatures, ...others.filter(({ keyid }) => !own.has(keyid))];
  const has = (id: string): boolean => all.some(({ keyid }) => keyid === id);
  const ids = [...keys.keys.keys()];
  const named = (some: readonly string[]) => some.map((id) => keyText(root, id)).sort();
  const isComplete = all.length >= keys.threshold;
  return {
    signedBy: named(ids.filter(has)),
    waitsFor: named(ids.filter((id) => !has(id))),
    role: isComplete
      ? await storeRole(deps, trust, revision.revision + 1, {
          channel,
          metadata: { signed: next, signatures: all },
        })
      : undefined,
  };
}

function noKey(
  root: TrustRoot,
  channel: string,
  keys: ChannelKeys,
  signers: readonly Signer[],
): AppError {
  const ids = keyList(root, keys.keys.keys());
  const [given] = signers;
  return new AppError(
    'key_required',
    given === undefined
      ? `Give one of the keys of ${channel} with --key: ${ids}.`
      : `Key ${shortId(given.key.id)} (${given.name}) is no key of ${channel}. Its keys: ${ids}.`,
  );
}
