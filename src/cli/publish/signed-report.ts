import type { BuildOutput } from '../../builds/build-output.ts';
import {
  findCarried,
  isAskedBy,
  NETSPARKLE_APPCAST,
  SPARKLE_APPCAST,
  UPDATE_INFO_FORMATS,
} from '../../domain/carried-document.ts';
import type { Release } from '../../domain/release.ts';
import type { PublishResult } from '../../releases/publish/publish-release.ts';
import type { EarlierReleases } from '../../releases/publish/read-earlier.ts';

/** The report of `slipway publish` about documents that the build tool signed. */

export function signedJson({ signed }: BuildOutput): readonly object[] {
  return signed.map(({ name, size, sha256, elsewhere }) => ({
    ...{ name, size, sha256 },
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

/** Warns of releases and files that clients of signed documents would refuse, or do not find in them. */
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

/** An application with SURequireSignedFeed, or with SecurityMode.Strict, accepts no generated appcast. */
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

/** Whether electron-builder's update documents list files of this format. */
function isListed({ platform, format }: Release['artifacts'][number]): boolean {
  return UPDATE_INFO_FORMATS[platform].includes(format);
}
