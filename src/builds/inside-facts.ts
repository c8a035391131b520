import { SPARKLE_ED25519 } from '../domain/signature.ts';
import { readMacFacts } from './archive/mac-facts.ts';
import { readProgramFacts } from './authenticode/program-facts.ts';
import type { InsideFacts } from './build-output.ts';
import { readAcceptedPublishers } from './electron/app-update.ts';
import type { Package } from './identify.ts';

/** @throws AppError `invalid_artifact`; the system's error when the file cannot be read */
export async function readInsideFacts(found: Package): Promise<InsideFacts> {
  const { file, platform, format } = found;
  if (platform === 'windows' && /\.exe$/i.test(file.name)) return readProgram(found);
  const isArchive = format === 'zip' || format === 'tar.gz';
  const facts =
    platform === 'macos' && isArchive ? await readMacFacts(file.path, format) : undefined;
  if (facts === undefined) return {};
  const { team, hardenedRuntime, ticket, sparkleKey, version, productName } = facts;
  return {
    versionInside: version,
    productName,
    signing: {
      ...(team === undefined ? {} : { team }),
      ...(hardenedRuntime === undefined ? {} : { hardenedRuntime }),
      ticket,
      ...(sparkleKey === undefined
        ? {}
        : { trustedKeys: [{ scheme: SPARKLE_ED25519, key: sparkleKey.trim() }] }),
    },
  };
}

async function readProgram({ file, arch }: Package): Promise<InsideFacts> {
  const {
    publisher,
    issuer,
    productVersion: versionInside,
    productName,
    signatureProblem,
    createSignatureCheck,
  } = await readProgramFacts(file.path);
  const acceptedPublishers = await readAcceptedPublishers(file, arch);
  const isUnknown = publisher === undefined && acceptedPublishers === undefined;
  const signing = {
    ...(publisher === undefined ? {} : { publisher }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(acceptedPublishers === undefined ? {} : { acceptedPublishers }),
  };
  return {
    versionInside,
    productName,
    signatureProblem,
    createSignatureCheck,
    signing: isUnknown ? undefined : signing,
  };
}
