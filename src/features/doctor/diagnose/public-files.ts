import {
  applicationsKey,
  artifactKey,
  manifestKey,
  revisionKey,
} from '../../../catalog/documents/keys.ts';
import type { ReaderDeps } from '../../../catalog/reading/read.ts';
import type { Finding } from '../../../core/check.ts';
import { type Ask, answered, askSurely } from './ask.ts';
import { failed, ok, skipped, warning } from './finding.ts';
import { sampleRelease } from './sample-release.ts';

interface PublicFilesDeps extends ReaderDeps {
  readonly ask: Ask;
  readonly isBucket: boolean;
  readonly publicAddress: ((key: string) => string) | undefined;
}

const GUIDE = "docs/operations/cdn.md in Slipway's repository has the steps";

/** Fetches a file from the CDN, and checks that the CDN gives clients no other objects of the bucket. */
export async function checkPublicFiles(deps: PublicFilesDeps): Promise<Finding> {
  const { ask, publicAddress } = deps;
  if (publicAddress === undefined) {
    return skipped('PUBLIC_FILES_URL is not set: every download gets a presigned link.');
  }
  const release = await sampleRelease(deps);
  const [artifact] = release?.artifacts ?? [];
  if (release === undefined || artifact === undefined) {
    return skipped('This check fetches a file of a release, and there is no release yet.');
  }
  if (deps.isBucket) {
    const { application, version } = release;
    // Each document has another prefix, because a policy may open one prefix and not another.
    const documents = [
      ...[applicationsKey(1), revisionKey(application, 1), manifestKey(application, version, 1)],
    ];
    const replies = await Promise.all(
      documents.map(async (key) => ({ key, ...(await askSurely(ask, publicAddress(key))) })),
    );
    const open = replies.filter(({ status }) => status >= 200 && status < 300);
    if (open.length > 0) {
      return failed(
        `Every client can read ${open.map(({ key }) => publicAddress(key)).join(' and ')}. The CDN must give clients only files.`,
        `Allow the CDN to read apps/*/artifacts/* and nothing else: ${GUIDE}.`,
      );
    }
  }
  const url = publicAddress(artifactKey(release.application, artifact.object));
  const part = await askSurely(ask, url, { headers: { range: 'bytes=0-0' } });
  if (part.status === 206) return ok(`${url} works, also for ranges.`);
  if (part.status === 200) {
    return warning(
      `${url} works, but answers a range with the whole file.`,
      'Let the CDN answer Range: otherwise interrupted downloads begin again.',
    );
  }
  return failed(
    `${url} ${answered(part)}. Clients cannot download this file.`,
    `Correct PUBLIC_FILES_URL, or the origin and the rights of the CDN: ${GUIDE}.`,
  );
}
