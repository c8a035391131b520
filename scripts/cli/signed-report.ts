import type { BuildOutput } from '../../src/build-output/build-output.ts';
import { isAskedBy } from '../../src/domain/carried-document.ts';
import type { Release } from '../../src/domain/release.ts';
import { PROTOCOLS } from '../../src/protocols/registry.ts';

/** The report of `slipway publish` about documents that the build tool signed. */

export function signedJson({ signed }: BuildOutput): readonly object[] {
  return signed.map(({ name, size, sha256, elsewhere }) => ({ name, size, sha256, elsewhere }));
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
      (address) => `${name} lists ${address}, which clients download there and not from Slipway.`,
    ),
  ]);
}

/** Warns of files that clients of a signed document do not find in it. */
export function signedWarnings(release: Release, { signed }: BuildOutput): readonly string[] {
  return signed.flatMap(({ name, lists }) => {
    return release.artifacts
      .filter((file) => isAskedBy(file, name) && isListed(file))
      .filter(({ filename }) => !lists.includes(filename))
      .map(
        ({ filename }) =>
          `Warning: ${name} is signed and does not list ${filename}, so electron-updater never installs it. Build both in one run.`,
      );
  });
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
