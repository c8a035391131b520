import { counted } from '../../core/counted.ts';
import { type Artifact, findArtifact, type Release } from '../../domain/release.ts';
import type { PublishResult } from '../../releases/publish/publish-release.ts';
import { appOption } from '../arguments.ts';

/** How `publish` describes the signatures of Tauri and Sparkle. */

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

/** False for a file of an offered release that was signed again: a published file is never replaced. */
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
  const verified =
    publicKey !== null
      ? `Verified ${what} with the key ${publicKey}.`
      : `${what} ${count === 1 ? 'was' : 'were'} not verified, because ${application} has no public key. To verify signatures from now on, run slipway apps set${app} --sparkle-pubkey KEY.`;
  return [
    ...(count === 0 ? [] : [verified]),
    ...(unsigned.length === 0
      ? []
      : [
          `Note: ${unsigned.slice(0, FILES_NAMED_MAX).join(', ')}${unsigned.length > FILES_NAMED_MAX ? ', …' : ''} ${unsigned.length === 1 ? 'has' : 'have'} no edSignature, and applications with a public key of Sparkle refuse such a file. Publish it with its appcast, or with what sign_update prints in FILE.edSignature.`,
        ]),
  ];
}
