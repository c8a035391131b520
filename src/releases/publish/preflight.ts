// The code with which electron-updater itself compares publishers.
import { parseDn } from 'builder-util-runtime/out/rfc2253Parser.js';
import { formatBytes, listed } from '../../core/counted.ts';
import { AppError } from '../../core/errors.ts';
import { parseMinisignKey } from '../../domain/minisign.ts';
import type { Format } from '../../domain/platform.ts';
import { type Artifact, findArtifact, type Release } from '../../domain/release.ts';
import { MINISIGN, type SignatureScheme, SPARKLE_ED25519 } from '../../domain/signature.ts';
import type { Requirement } from '../../domain/signing-facts.ts';
import { mayUpdateFrom } from '../../domain/version.ts';
import { SEEN_DAYS, type SeenChecks } from '../forecast/seen-checks.ts';

/**
 * Compares the files of a publish with the earlier releases of the channel, before anything is uploaded: clients may
 * refuse an update that is signed in another way. Pure.
 */

export interface Finding {
  /** A sentence, or several. */
  readonly text: string;
  /** The requirement of an application that refuses the file; null: publish only warns. */
  readonly requirement: Requirement | null;
  /** False for a file that is like the earlier releases: publish says nothing, unless the application requires more. */
  readonly isNew: boolean;
}

export interface Preflight {
  readonly version: string;
  readonly files: readonly CheckedFile[];
  /** The versions that may update to the release; null: every older version. */
  readonly requires: string | null;
  /** The earlier releases of the channel, the newest first. */
  readonly earlier: readonly Release[];
  /** The key that verified the Sparkle signatures of the files; null: they were not verified. */
  readonly sparkleKey: string | null;
  /** The checks that clients made; empty: unknown. */
  readonly seen: readonly SeenChecks[];
}

interface CheckedFile extends Artifact {
  /** Absent: unknown. */
  readonly versionInside?: string | undefined;
  /** True when its Authenticode signature does not fit its bytes. */
  readonly hasBrokenSignature?: boolean;
  /** Why its Authenticode signature cannot be verified, as a part of a sentence; absent: there is no problem. */
  readonly signatureProblem?: string | undefined;
}

export function findDifferences(given: Preflight): readonly Finding[] {
  const { requires, earlier } = given;
  // A client of any other version updates to a release in between first.
  const updating = earlier.filter(({ version }) => mayUpdateFrom(version, requires));
  const preflight = { ...given, earlier: updating };
  return preflight.files.flatMap((file) => {
    const before = preflight.earlier.find((release) => findArtifact(release, file) !== undefined);
    const previous = before && { release: before, file: findArtifact(before, file) };
    return [
      ...versionFindings(preflight, file),
      ...sizeFindings(file, previous),
      ...publisherFindings(preflight, file, previous),
      ...issuerFindings(preflight, file),
      ...appleFindings(file, previous),
      ...keyFindings(preflight, file),
      ...unsignedFindings(file, previous),
    ];
  });
}

/** @throws AppError `invalid_artifact` for the first file that a requirement of the application refuses */
export function refuseFindings(
  application: string,
  findings: readonly Finding[],
  required: readonly Requirement[],
): void {
  const refused = findings.find(
    ({ requirement }) => requirement !== null && required.includes(requirement),
  );
  if (refused === undefined) return;
  throw new AppError(
    'invalid_artifact',
    `${refused.text} Nothing was published, because ${application} requires "${refused.requirement}": slipway apps set --require changes that.`,
  );
}

/** Only these files of Windows have a signature that publishing reads. */
function isProgram({ platform, filename }: Artifact): boolean {
  return platform === 'windows' && /\.exe$/i.test(filename);
}

/** Only these files of macOS have a signature that publishing reads. */
function isMacArchive({ platform, format }: Artifact): boolean {
  return platform === 'macos' && (format === 'zip' || format === 'tar.gz');
}

/** True when a rule of the application could refuse the file. */
export function isConcerned(file: Artifact, required: readonly Requirement[]): boolean {
  return (
    (required.includes('publisher') && isProgram(file)) ||
    (required.includes('team') && isMacArchive(file)) ||
    (required.includes('ticket') && isMacArchive(file)) ||
    (required.includes('key') && file.signatures.length > 0)
  );
}

/** The newest earlier release with a file of the same kind. */
type Previous = { readonly release: Release; readonly file: Artifact | undefined } | undefined;

function warning(text: string): Finding {
  return { text, requirement: null, isNew: true };
}

/** A setup program of Squirrel or Velopack may state the version of the tool. */
const STUBS: readonly Format[] = ['squirrel-setup', 'velopack-setup'];

/** Compares only major, minor and patch, because build tools write pre-releases and builds in their own ways. */
function versionFindings(
  { version }: Preflight,
  { filename, format, versionInside }: CheckedFile,
): readonly Finding[] {
  if (STUBS.includes(format)) return [];
  const inside = /^\d+\.\d+\.\d+/.exec(versionInside ?? '')?.[0];
  const own = /^\d+\.\d+\.\d+/.exec(version)?.[0];
  if (inside === undefined || inside === own) return [];
  return [
    warning(
      `The program in ${filename} has the version ${versionInside}, not ${version}. If it reports ${versionInside} after the update, it is offered ${version} again and again. Check that this is the build of ${version}.`,
    ),
  ];
}

function sizeFindings({ filename, size }: CheckedFile, previous: Previous): readonly Finding[] {
  const before = previous?.file?.size;
  if (before === undefined || (size >= before / 2 && size <= before * 1.5)) return [];
  return [
    warning(
      `${filename} has ${formatBytes(size)}, and the file of ${previous?.release.version} has ${formatBytes(before)}. Check that the build is complete.`,
    ),
  ];
}

function publisherFindings(
  preflight: Preflight,
  file: CheckedFile,
  previous: Previous,
): readonly Finding[] {
  const { filename, signing } = file;
  const publisher = signing?.publisher;
  const before = previous?.file?.signing?.publisher;
  const requirement = 'publisher';
  if (file.hasBrokenSignature) {
    const text = `The signature of ${filename} does not fit its bytes, so Windows and electron-updater refuse it. The file was changed after it was signed: sign it again.`;
    return [{ text, requirement, isNew: true }];
  }
  if (file.signatureProblem !== undefined) {
    const text = `The signature of ${filename} cannot be verified: ${file.signatureProblem}. So nothing proves who signed the file. Check where it comes from, and sign it again.`;
    return [{ text, requirement, isNew: true }];
  }
  if (publisher === undefined) {
    const text = `Nothing states who signed ${filename}: its signature cannot be read. Sign it again.`;
    return isProgram(file) ? [{ text, requirement, isNew: false }] : [];
  }
  if (publisher === null) {
    const text =
      typeof before === 'string'
        ? `${filename} is not signed, and the file of ${previous?.release.version} is signed by ${before}. Windows warns of an unsigned program, and electron-updater with a publisherName refuses it. Sign it.`
        : `${filename} is not signed. Sign it with Authenticode.`;
    return [{ text, requirement, isNew: typeof before === 'string' }];
  }
  const known = preflight.earlier.flatMap((release) => {
    const accepted = acceptedBy(release, file);
    return accepted === undefined ? [] : [{ release, accepted }];
  });
  const refusing = known.filter(({ accepted }) => !acceptsPublisher(accepted, publisher));
  const [first] = refusing;
  if (first === undefined) return [];
  const who = refusingText(
    preflight,
    file,
    known.length,
    refusing.map(({ release }) => release),
  );
  const text = `${filename} is signed by ${publisher}. The electron-updater in ${who} accepts only ${listed(first.accepted)}, so it refuses this update. Sign ${filename} as ${first.accepted[0]}. To change the publisher, first publish a release that is signed by the old publisher and has both names in its publisherName.`;
  return [{ text, requirement, isNew: true }];
}

/**
 * Anyone can make a certificate with the name of another publisher: it is then signed with its own key, or its issuer is
 * another one. Another issuer is never refused, because some signing services rotate issuers.
 */
function issuerFindings({ earlier }: Preflight, file: CheckedFile): readonly Finding[] {
  const { filename, signing: { issuer, publisher } = {} } = file;
  const issuerIn = (release: Release) => findArtifact(release, file)?.signing?.issuer;
  const newest = earlier.find((release) => issuerIn(release) !== undefined);
  const before = newest && issuerIn(newest);
  if (issuer === undefined || before === undefined || issuer === before) return [];
  if (issuer !== null) {
    const text = `The certificate of ${filename} is signed by ${issuer}, and the certificate of ${newest?.version} by ${before ?? 'its own key'}. Anyone can make a certificate with the name ${publisher}: check that this one is yours.`;
    return [warning(text)];
  }
  const text = `The certificate of ${filename} is signed with its own key, and the certificate of ${newest?.version} by ${before}. Anyone can make such a certificate with the name ${publisher}, and Windows does not trust it. Sign ${filename} with a certificate that an authority issued.`;
  return [{ text, requirement: 'publisher', isNew: true }];
}

/**
 * The publishers that the installer of a release accepts. Without its configuration, its own publisher. Undefined: every
 * publisher, or unknown.
 */
function acceptedBy(release: Release, file: Artifact): readonly string[] | undefined {
  const { acceptedPublishers: accepted, publisher } = findArtifact(release, file)?.signing ?? {};
  if (accepted !== undefined) return accepted.length === 0 ? undefined : accepted;
  return typeof publisher === 'string' ? [publisher] : undefined;
}

/** As electron-updater decides: every attribute of a full name must be equal; a plain name is the common name. */
function acceptsPublisher(accepted: readonly string[], subject: string): boolean {
  const actual = parseDn(subject);
  return accepted.some((name) => {
    const wanted = parseDn(name);
    if (wanted.size === 0) return name === actual.get('CN');
    return [...wanted].every(([attribute, value]) => actual.get(attribute) === value);
  });
}

function appleFindings(file: CheckedFile, previous: Previous): readonly Finding[] {
  const { filename, signing } = file;
  const before = previous?.file?.signing;
  const version = previous?.release.version;
  const findings: Finding[] = [];
  if (isMacArchive(file) && (signing?.team === undefined || signing.ticket === undefined)) {
    const text = `Nothing states who signed ${filename}: it has no application in its root whose signature can be read. Pack one application, with ditto or with the build tool.`;
    findings.push({ text, requirement: 'team', isNew: false });
    findings.push({ text, requirement: 'ticket', isNew: false });
  }
  if (signing?.team !== undefined) {
    const by = (team: string | null) => (team === null ? 'no team' : `the team ${team}`);
    if (typeof before?.team === 'string' && before.team !== signing.team) {
      const text = `${filename} is signed by ${by(signing.team)}, and the file of ${version} by ${by(before.team)}: macOS and the updaters refuse an update of another team. Sign it with the certificate of ${before.team}.`;
      findings.push({ text, requirement: 'team', isNew: true });
    } else if (signing.team === null) {
      const text = `${filename} is signed by no team. Sign it with a Developer ID.`;
      findings.push({ text, requirement: 'team', isNew: false });
    }
  }
  const lacks = (fact: 'hardenedRuntime' | 'ticket', what: string, remedy: string): void => {
    if (signing?.[fact] !== false) return;
    const isNew = before?.[fact] === true;
    const compared = isNew ? ` The file of ${version} has it.` : '';
    const text = `${filename} has ${what}.${compared} ${remedy}`;
    findings.push({ text, requirement: 'ticket', isNew });
  };
  lacks(
    'hardenedRuntime',
    'no hardened runtime, so Apple does not notarize it',
    'Sign it with codesign --options runtime.',
  );
  lacks(
    'ticket',
    'no stapled ticket of Apple, so a Mac without a network does not open it',
    'Run xcrun stapler staple on the application before you pack it.',
  );
  return findings;
}

/** Clients of Tauri and Sparkle are not offered a file without a signature, and they report nothing. */
function unsignedFindings(file: CheckedFile, previous: Previous): readonly Finding[] {
  const has = (artifact: Artifact | undefined, scheme: SignatureScheme): boolean =>
    artifact?.signatures.some((each) => each.scheme === scheme) === true;
  const remedies = {
    [MINISIGN]: `Tauri's updaters are not offered it. Build with createUpdaterArtifacts and TAURI_SIGNING_PRIVATE_KEY, and publish the file together with its .sig.`,
    [SPARKLE_ED25519]:
      "Sparkle's updaters are not offered it. Publish the folder with the appcast that generate_appcast wrote.",
  };
  return ([MINISIGN, SPARKLE_ED25519] as const)
    .filter((scheme) => has(previous?.file, scheme) && !has(file, scheme))
    .map((scheme) =>
      warning(
        `${file.filename} has no signature, and the ${file.format} of ${previous?.release.version} has one: ${remedies[scheme]}`,
      ),
    );
}

function keyFindings(preflight: Preflight, file: CheckedFile): readonly Finding[] {
  return ([MINISIGN, SPARKLE_ED25519] as const).flatMap((scheme) => {
    const signedWith = signingKey(preflight, file, scheme);
    if (signedWith === undefined) return [];
    const known = preflight.earlier.flatMap((release) => {
      const keys = keysTrustedBy(release, file, scheme);
      return keys.length === 0 ? [] : [{ release, keys }];
    });
    const refusing = known.filter(({ keys }) => !keys.includes(signedWith));
    const [first] = refusing;
    if (first === undefined) return [];
    const who = refusingText(
      preflight,
      file,
      known.length,
      refusing.map(({ release }) => release),
    );
    const tool = scheme === MINISIGN ? 'Tauri' : 'Sparkle';
    const text = `${file.filename} is signed with the ${tool} key ${signedWith}. ${who} trust only the key ${listed(first.keys)}, so they refuse this update. Sign it with the key ${first.keys[0]}. To change the key, first publish a release that is signed with the old key and trusts the new one: give the new one with --trusts.`;
    return [{ text, requirement: 'key' as const, isNew: true }];
  });
}

/** The id of a Tauri key, or the text of a Sparkle key. */
function signingKey(
  { sparkleKey }: Preflight,
  { signatures }: Artifact,
  scheme: SignatureScheme,
): string | undefined {
  const signature = signatures.find((each) => each.scheme === scheme);
  if (signature === undefined) return undefined;
  return scheme === MINISIGN ? signature.keyId : (sparkleKey ?? undefined);
}

function keysTrustedBy(
  release: Release,
  { platform, arch }: Artifact,
  scheme: SignatureScheme,
): readonly string[] {
  const keys = release.artifacts
    .filter((each) => each.platform === platform && each.arch === arch)
    .flatMap(({ signing }) => signing?.trustedKeys ?? [])
    .filter((trusted) => trusted.scheme === scheme)
    .map(({ key }) => (scheme === MINISIGN ? parseMinisignKey(key).keyId : key));
  return [...new Set(keys)];
}

/** `3 of 4 earlier releases (41,000 checks in 30 days: 1.0.0, 1.1.0, 1.2.0)`. */
function refusingText(
  { seen }: Preflight,
  { platform }: Artifact,
  known: number,
  refusing: readonly Release[],
): string {
  const versions = refusing.map(({ version }) => version);
  const checks = seen
    .filter((each) => each.platform === platform && versions.includes(each.version))
    .reduce((sum, each) => sum + each.checks, 0);
  const counted =
    checks === 0 ? '' : `${checks.toLocaleString('en')} checks in ${SEEN_DAYS} days: `;
  return `${refusing.length} of ${known} earlier releases (${counted}${listed(versions, 4)})`;
}
