import type { BuildOutput } from '../../src/build-output/build-output.ts';
import { findCarried, isAskedBy } from '../../src/domain/carried-document.ts';
import type { Release } from '../../src/domain/release.ts';
import type { PublishResult } from '../../src/operations/publish-release.ts';
import type { EarlierReleases } from '../../src/operations/read-earlier.ts';
import { PROTOCOLS } from '../../src/protocols/registry.ts';

/** The report of `slipway publish` about documents that the build tool signed. */

export function signedJson({ signed }: BuildOutput): readonly object[] {
  return signed.map(({ name, size, sha256, elsewhere }) => ({
    ...{ name, size, sha256 },
    elsewhere: elsewhere.map(({ address }) => address),
  }));
}

export function signedSentences({ signed }: BuildOutput): readonly string[] {
  return signed.flatMap(({ name, stagingPercentage, elsewhere }) => [
    `${name} is signed: clients get it byte for byte.`,
    ...(stagingPercentage === null
      ? []
      : [
          `Its clients apply its stagingPercentage ${stagingPercentage} themselves: Slipway starts no rollout for it.`,
        ]),
    ...elsewhere.map(
      ({ address }) =>
        `${name} lists ${address}, which clients download there and not from Slipway.`,
    ),
  ]);
}

/** Warns of releases and files that clients of signed documents would refuse, or do not find in them. */
export function signedWarnings(
  result: PublishResult,
  build: BuildOutput,
  earlier: Pick<EarlierReleases, 'signed'>,
): readonly string[] {
  return [
    ...unsignedWarnings(result, earlier),
    ...unlistedWarnings(result.release, build),
    ...addedWarnings(result, build),
  ];
}

/** An application that trusts a key accepts no generated document. */
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
  const targets = [...new Set(lacking.map(({ platform, arch }) => `${platform}-${arch}`))];
  return [
    `Warning: ${channel} offers ${signed.version} with signed documents, and ${version} has none for ${targets.join(', ')}: an application that was built with a public key refuses it. Publish the signed latest*.yml of ${version} with the same files.`,
  ];
}

/** Files that are new in a release whose document another run published: a document lists only files of its own run. */
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

/** Whether a dialect with signed documents lists files of this format. */
function isListed({ platform, format }: Release['artifacts'][number]): boolean {
  return PROTOCOLS.some(
    (protocol) =>
      protocol.shape === 'feed' &&
      protocol.renderSigned !== undefined &&
      protocol.formatsFor(platform).includes(format),
  );
}
