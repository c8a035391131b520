import pLimit from 'p-limit';
import { artifactKey } from '../../catalog/documents/keys.ts';
import type { OfferJson } from '../../catalog/documents/revision-document.ts';
import type { AnnouncedRevisions } from '../../catalog/reading/hints.ts';
import {
  type ReaderDeps,
  readAnnounced,
  readManifest,
  readStoredApplications,
  readStoredRevisions,
} from '../../catalog/reading/read.ts';
import type { Revision } from '../../catalog/reading/sequences.ts';
import { unknownApplication } from '../../catalog/reading/unknown-release.ts';
import { hashObject } from '../../catalog/writing/artifact-upload.ts';
import { AppError, isAppError } from '../../core/errors.ts';
import {
  type MinisignPublicKey,
  type MinisignSignature,
  parseMinisignSignature,
} from '../../domain/minisign.ts';
import type { Artifact, Release } from '../../domain/release.ts';
import { MINISIGN } from '../../domain/signature.ts';
import {
  applicationSettingsOf,
  type PublicKeySettings,
} from '../applications/application-settings.ts';
import { edSignaturesOf } from './verify-sparkle.ts';
import { checkSignedFile } from './verify-stored-signatures.ts';
import { checkAppcasts, checkSparkleFile } from './verify-stored-sparkle.ts';

/** Checks stored objects against the catalog. */

interface VerifyRequest {
  /** Undefined: every application. */
  readonly application: string | undefined;
  /** Also reads every artifact's bytes. The bytes of signed documents are always read. */
  readonly deep: boolean;
}

export interface VerifyResult {
  readonly application: string;
  readonly revision: number;
  readonly revisionsChecked: number;
  readonly manifestsChecked: number;
  readonly filesChecked: number;
  readonly bytesRead: number;
  /** Signatures that the application's keys verified; only when every artifact's bytes were read. */
  readonly signaturesVerified: number;
  /** Sentences; empty when the application is sound. */
  readonly problems: readonly string[];
}

interface VerifyDeps extends ReaderDeps {
  readonly onProgress: (done: number, total: number, what: string) => void;
}

const REQUESTS_MAX = 8;

interface Verified {
  /** Problems of the list of applications, as sentences. */
  readonly listProblems: readonly string[];
  readonly applications: readonly VerifyResult[];
}

/**
 * A failure of the store ends the check, because the state of the applications is unknown then. @throws AppError
 * `unknown_application`
 */
export async function verifyCatalog(deps: VerifyDeps, request: VerifyRequest): Promise<Verified> {
  const { application, deep } = request;
  // Reads the announced revisions before the lists, because a publisher may create an application meanwhile.
  const announced = await readAnnounced(deps);
  const list = await readStoredApplications(deps, announced);
  const names = list.newest?.signed.applications.map(({ name }) => name) ?? [];
  const applications: VerifyResult[] = [];
  for (const name of application === undefined ? names : [application]) {
    applications.push(await verifyApplication(deps, name, announced, deep));
  }
  const isListed = application === undefined || names.includes(application);
  // A corrupt list may have lost the name, so only a sound list shows that the application is unknown.
  if (!isListed && list.problems.length === 0 && applications[0]?.revisionsChecked === 0) {
    throw await unknownApplication(deps, application);
  }
  return { listProblems: list.problems, applications };
}

async function verifyApplication(
  deps: VerifyDeps,
  application: string,
  announced: AnnouncedRevisions,
  deep: boolean,
): Promise<VerifyResult> {
  const revisions = await readStoredRevisions(deps, application, announced, (done, total) =>
    deps.onProgress(done, total, 'revisions'),
  );
  const problems = [...revisions.problems];
  const { newest } = revisions;
  if (newest === undefined) {
    problems.push(
      `${application} has no catalog revision. If its first publish was interrupted, run it again; otherwise restore the application from a backup.`,
    );
  }
  const offers = distinctManifests(newest);
  const files = new Map<string, StoredFile>();
  const settings = await collect(problems, async () =>
    applicationSettingsOf(newest?.signed.settings ?? {}),
  );
  const { tauriPubkey = null, sparklePubkey = null } = settings ?? {};
  const depth = { deep, tauriPubkey, sparklePubkey };
  let manifestsChecked = 0;
  let appcastsVerified = 0;
  for (const offer of offers) {
    const manifest = await collect(problems, () =>
      readManifest(deps, application, offer.version, offer.manifest),
    );
    manifestsChecked++;
    deps.onProgress(manifestsChecked, offers.length, 'manifests');
    for (const artifact of manifest?.release.artifacts ?? []) {
      for (const file of [artifact, ...artifact.companions]) {
        addFile(files, artifactKey(application, file.object), file);
      }
    }
    for (const document of manifest?.release.carried ?? []) {
      addFile(files, artifactKey(application, document.object), {
        ...document,
        isAlwaysRead: true,
      });
    }
    if (manifest !== undefined) {
      appcastsVerified += await verifyAppcasts(deps, manifest.release, depth, problems);
    }
  }
  const checked = await verifyFiles(deps, files, depth, problems);
  return {
    application,
    revision: newest?.signed.revision ?? 0,
    revisionsChecked: revisions.readCount,
    manifestsChecked,
    filesChecked: files.size,
    ...checked,
    signaturesVerified: checked.signaturesVerified + appcastsVerified,
    problems,
  };
}

type NamedManifest = Pick<OfferJson, 'version' | 'manifest'>;

/** The manifests of offers and drafts, each once. */
function distinctManifests(revision: Revision | undefined): readonly NamedManifest[] {
  const offers = new Map<string, NamedManifest>();
  for (const channel of Object.values(revision?.signed.channels ?? {})) {
    for (const offer of [...channel.offers, ...(channel.drafts ?? [])]) {
      offers.set(`${offer.version} ${offer.manifest.number}`, offer);
    }
  }
  return [...offers.values()];
}

interface StoredFile
  extends Pick<Artifact, 'size' | 'sha256'>,
    Partial<Pick<Artifact, 'signatures'>> {
  /**
   * True for signed documents: they are small, and a service drops the offer of a release when one of its documents has
   * other bytes.
   */
  readonly isAlwaysRead?: boolean;
}

/** Several manifests may name a file, each with signatures of its own. */
function addFile(files: Map<string, StoredFile>, key: string, file: StoredFile): void {
  const known = files.get(key);
  const all = [...(known?.signatures ?? []), ...(file.signatures ?? [])];
  const signatures = [...new Map(all.map((each) => [each.value, each])).values()];
  files.set(key, { ...known, ...file, signatures });
}

/** @returns how many signed appcasts the key verified */
async function verifyAppcasts(
  deps: VerifyDeps,
  release: Release,
  { deep, sparklePubkey }: Depth,
  problems: string[],
): Promise<number> {
  if (!deep || sparklePubkey === null) return 0;
  // Ignores documents with other bytes, because `verifyFiles` reports them.
  const checked = await collect([], () => checkAppcasts(deps, release, sparklePubkey));
  for (const name of checked?.invalid ?? []) {
    problems.push(
      `${name} of ${release.version} has a signature that the key ${sparklePubkey.text} does not verify. Clients that require a signed appcast refuse it: publish a new version.`,
    );
  }
  return checked?.valid.length ?? 0;
}

type Depth = Pick<VerifyRequest, 'deep'> & PublicKeySettings;
/** The bytes that were read, also of files with a problem, and the signatures that were verified. */
interface Counts {
  bytesRead: number;
  signaturesVerified: number;
}

async function verifyFiles(
  deps: VerifyDeps,
  files: ReadonlyMap<string, StoredFile>,
  depth: Depth,
  problems: string[],
): Promise<Counts> {
  const limit = pLimit(REQUESTS_MAX);
  let done = 0;
  const counts: Counts = { bytesRead: 0, signaturesVerified: 0 };
  await Promise.all(
    [...files].map(([key, file]) =>
      limit(async () => {
        await collect(problems, () => verifyFile(deps, key, file, depth, counts));
        deps.onProgress(++done, files.size, 'files');
      }),
    ),
  );
  return counts;
}

/** @throws AppError `artifact_mismatch` */
async function verifyFile(
  deps: VerifyDeps,
  key: string,
  file: StoredFile,
  { deep, tauriPubkey, sparklePubkey }: Depth,
  counts: Counts,
): Promise<void> {
  const info = await deps.store.head(key);
  if (info === undefined) throw mismatch(`${key} is missing.`);
  if (info.size !== file.size) {
    throw mismatch(`${key} has ${info.size} bytes, and its manifest states ${file.size}.`);
  }
  if (!deep && file.isAlwaysRead !== true) return;
  const signatures = tauriPubkey === null ? [] : signaturesOf(file, tauriPubkey);
  const edSignatures = sparklePubkey === null ? [] : edSignaturesOf(file);
  const named = { object: key, sha256: file.sha256 };
  const read =
    sparklePubkey !== null && edSignatures.length > 0
      ? await checkSparkleFile(deps, named, edSignatures, sparklePubkey)
      : undefined;
  const { sha256, isValid } =
    tauriPubkey === null || signatures.length === 0
      ? (read ?? { sha256: await hashObject(deps, key, file.sha256), isValid: true })
      : await checkSignedFile(deps, { ...named, signatures, publicKey: tauriPubkey });
  counts.bytesRead += info.size;
  if (sha256 !== file.sha256) {
    throw mismatch(`${key} has other bytes than its manifest states: its sha256 is ${sha256}.`);
  }
  if (read?.isValid === false) {
    throw mismatch(
      `${key} has an edSignature that the key ${sparklePubkey?.text} does not verify. Clients with that key refuse the file: publish a new version.`,
    );
  }
  if (!isValid) {
    throw mismatch(
      `${key} has a Tauri signature that the key ${tauriPubkey?.keyId} does not verify. Clients refuse the file: publish a new version.`,
    );
  }
  counts.signaturesVerified += signatures.length + edSignatures.length;
}

/** The signatures of a file that the key can verify. An earlier key of the application made the others. */
function signaturesOf(
  { signatures = [] }: StoredFile,
  key: MinisignPublicKey,
): readonly MinisignSignature[] {
  return (
    signatures
      .filter(({ scheme }) => scheme === MINISIGN)
      .map(({ value }) => parseMinisignSignature(value))
      .filter((signature) => signature !== undefined)
      // A legacy signature is over the file and not over its hash, so the check would need the whole file in memory.
      .filter(({ algorithm, keyId }) => algorithm === 'ED' && keyId === key.keyId)
  );
}

function mismatch(message: string): AppError {
  return new AppError('artifact_mismatch', message);
}

/** Corrupt data becomes a problem in the result; any other error ends the check. */
async function collect<T>(problems: string[], check: () => Promise<T>): Promise<T | undefined> {
  try {
    return await check();
  } catch (error) {
    if (!isAppError(error) || error.kind !== 'corrupt') throw error;
    problems.push(error.message);
    return undefined;
  }
}
