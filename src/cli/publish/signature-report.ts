import type { BuildOutput } from '../../builds/build-output.ts';
import { counted } from '../../core/counted.ts';
import {
  findCarried,
  isAskedBy,
  NETSPARKLE_APPCAST,
  SPARKLE_APPCAST,
  UPDATE_INFO_FORMATS,
} from '../../domain/carried-document.ts';
import { type Artifact, findArtifact, type Release } from '../../domain/release.ts';
import type { EarlierReleases } from '../../releases/files/read-earlier.ts';
import type { PublishResult } from '../../releases/publish/publish-request.ts';
import { appOption } from '../arguments.ts';
import { platformsOf } from './file-warnings.ts';

/**
 * The report of `slipway publish` about signatures of Tauri and Sparkle, and about documents that the build tool
 * signed.
 */

export function signaturesJson({ signatures }: Pick<PublishResult, 'signatures'>): object {
  const { keyId, count, withoutVersion } = signatures;
  return {
    verified: keyId === null ? 0 : count,
    unverified: keyId === null ? count : 0,
    tauri_key_id: keyId,
    without_version: withoutVersion,
  };
}

export function edSignaturesJson({ edSignatures }: Pick<PublishResult, 'edSignatures'>): object {
  const { publicKey, count, unsigned } = edSignatures;
  return {
    verified: publicKey === null ? 0 : count,
    unverified: publicKey === null ? count : 0,
    public_key: publicKey,
    unsigned,
  };
}

const FILES_NAMED_MAX = 4;

/** @param defaultApplication the application of commands without `--app` */
export function signatureSentences(
  {
    application,
    version,
    signatures,
    artifacts,
    release,
  }: Pick<PublishResult, 'application' | 'version' | 'signatures' | 'artifacts' | 'release'>,
  defaultApplication: string,
): readonly string[] {
  const { keyId, count, withoutVersion } = signatures;
  if (count === 0) return [];
  const given = artifacts.map(({ artifact }) => artifact);
  const kept = given.filter((file) => !hasItsSignatures(release, file));
  const what = counted(count, 'Tauri signature');
  const app = appOption(application, defaultApplication);
  const more = withoutVersion.length > FILES_NAMED_MAX ? ', …' : '';
  return [
    keyId !== null
      ? `Verified ${what} with the key ${keyId}.`
      : `${what} ${count === 1 ? 'was' : 'were'} not verified, because ${application} has no public key. To verify signatures from now on, run slipway apps set${app} --tauri-pubkey KEY.`,
    ...(kept.length === 0
      ? []
      : [
          `Note: ${kept.map(({ filename }) => filename).join(', ')} ${kept.length === 1 ? 'keeps' : 'keep'} the signature of the first publish, because clients may have it. To change a signature, publish a new version.`,
        ]),
    ...(withoutVersion.length === 0
      ? []
      : [
          `Note: the signatures of ${withoutVersion.slice(0, FILES_NAMED_MAX).join(', ')}${more} do not state a version, so an attacker who controls the answers of your server could offer them as a newer version (CVE-2026-95625). Build with a newer Tauri CLI, or sign with "tauri signer sign --app-version ${version}".`,
        ]),
  ];
}

/**
 * False for a file of an offered release that the publisher has signed again. The release keeps the first signature,
 * because a published file is never replaced.
 */
function hasItsSignatures(release: Release, file: Artifact): boolean {
  const stored = findArtifact(release, file)?.signatures.map(({ value }) => value) ?? [];
  return file.signatures.every(({ value }) => stored.includes(value));
}

/** @param defaultApplication the application of commands without `--app` */
export function edSignatureSentences(
  { application, edSignatures }: Pick<PublishResult, 'application' | 'edSignatures'>,
  defaultApplication: string,
): readonly string[] {
  const { publicKey, count, unsigned } = edSignatures;
  const app = appOption(application, defaultApplication);
  const what = counted(count, 'Sparkle signature');
  const more = unsigned.length > FILES_NAMED_MAX ? ', …' : '';
  const have = unsigned.length === 1 ? 'has' : 'have';
  const verified =
    publicKey !== null
      ? `Verified ${what} with the key ${publicKey}.`
      : `${what} ${count === 1 ? 'was' : 'were'} not verified, because ${application} has no public key. To verify signatures from now on, run slipway apps set${app} --sparkle-pubkey KEY.`;
  return [
    ...(count === 0 ? [] : [verified]),
    ...(unsigned.length === 0
      ? []
      : [
          `Note: ${unsigned.slice(0, FILES_NAMED_MAX).join(', ')}${more} ${have} no edSignature, and applications with a public key of Sparkle refuse such a file. Publish it with its appcast, or with what sign_update prints in FILE.edSignature.`,
        ]),
  ];
}

export function signedJson({ signed }: BuildOutput): readonly object[] {
  return signed.map(({ name, size, sha256, elsewhere }) => ({
    name,
    size,
    sha256,
    elsewhere: elsewhere.map(({ address }) => address),
  }));
}

export function signedSentences({ signed }: BuildOutput): readonly string[] {
  return signed.flatMap(({ name, stagingPercentage, phasedRolloutInterval, elsewhere }) => [
    `${name} is signed: clients get it byte for byte.`,
    ...(stagingPercentage === null
      ? []
      : [
          `Its clients apply its stagingPercentage ${stagingPercentage} themselves: Slipway starts no rollout for it.`,
        ]),
    ...(phasedRolloutInterval === undefined
      ? []
      : [
          `Its clients apply its phasedRolloutInterval ${phasedRolloutInterval} themselves: Slipway starts no rollout for it.`,
        ]),
    ...elsewhere.map(
      ({ address }) =>
        `${name} lists ${address}, which clients download there and not from Slipway.`,
    ),
  ]);
}

/**
 * Warns of releases that clients of signed documents would refuse, and of files that a signed document does not list.
 */
export function signedWarnings(
  result: PublishResult,
  build: BuildOutput,
  earlier: Pick<EarlierReleases, 'signed'>,
): readonly string[] {
  return [
    ...unsignedWarnings(result, earlier),
    ...unsignedAppcastWarnings(result, earlier),
    ...unlistedWarnings(result.release, build),
    ...addedWarnings(result, build),
  ];
}

/** Warns of files without a signed document: an application that trusts a key accepts no generated document. */
function unsignedWarnings(
  { channel, version, release }: PublishResult,
  { signed }: Pick<EarlierReleases, 'signed'>,
): readonly string[] {
  if (signed === undefined) return [];
  const lacking = release.artifacts.filter(
    (file) =>
      isListed(file) &&
      findCarried(signed.carried, file) !== undefined &&
      findCarried(release.carried, file) === undefined,
  );
  if (lacking.length === 0) return [];
  return [
    `Warning: ${channel} offers ${signed.version} with signed documents, and ${version} has none for ${platformsOf(lacking)}: an application that was built with a public key refuses it. Publish the signed latest*.yml of ${version} with the same files.`,
  ];
}

/**
 * Warns of a release without a signed appcast: an application with SURequireSignedFeed, or with SecurityMode.Strict,
 * accepts no generated appcast.
 */
function unsignedAppcastWarnings(
  { channel, version, release }: PublishResult,
  { signed }: Pick<EarlierReleases, 'signed'>,
): readonly string[] {
  const has = ({ carried }: Pick<Release, 'carried'>, name: string) =>
    carried.some((document) => document.name === name);
  return [SPARKLE_APPCAST, NETSPARKLE_APPCAST]
    .filter((name) => signed !== undefined && has(signed, name) && !has(release, name))
    .map(
      (name) =>
        `Warning: ${channel} offers ${signed?.version} with a signed ${name}, and ${version} has none: an application that requires a signed appcast refuses the generated one. Publish the signed appcast of ${version} with the same files.`,
    );
}

/**
 * Warns of new files in a release whose signed document comes from another run: a document lists only files of its own
 * run.
 */
function addedWarnings({ artifacts, release }: PublishResult, { signed }: BuildOutput) {
  return artifacts.flatMap(({ artifact, uploaded }) => {
    const document = findCarried(release.carried, artifact);
    const isOfRun = signed.some(({ name }) => name === document?.name);
    if (!uploaded || document === undefined || isOfRun || !isListed(artifact)) return [];
    return [unlisted(document.name, artifact.filename)];
  });
}

function unlistedWarnings(release: Release, { signed }: BuildOutput): readonly string[] {
  return signed.flatMap(({ name, lists, elsewhere }) => {
    const listed = [...lists, ...elsewhere.map((each) => each.name)];
    return release.artifacts
      .filter((file) => isAskedBy(file, name) && isListed(file))
      .filter(({ filename }) => !listed.includes(filename))
      .map(({ filename }) => unlisted(name, filename));
  });
}

function unlisted(name: string, filename: string): string {
  return `Warning: ${name} is signed and does not list ${filename}, so electron-updater never installs it. Build both in one run.`;
}

/** True when electron-builder's update documents list files of this format. */
function isListed({ platform, format }: Release['artifacts'][number]): boolean {
  return UPDATE_INFO_FORMATS[platform].includes(format);
}
