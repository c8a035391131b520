import { SPARKLE_APPCAST, SPARKLE_FORMATS } from '../domain/carried-document.ts';
import type { Release } from '../domain/release.ts';
import { SPARKLE_ED25519 } from '../domain/signature.ts';
import { APPCAST, type AppcastItem, notNewerThan, renderAppcast } from './appcast.ts';
import { chooseFile } from './appcast-file.ts';
import { appcastQuery, noAppcastSignature, parseAppcastPath } from './appcast-request.ts';
import { listAppcastAddresses } from './appcast-static.ts';
import type {
  FeedListing,
  FeedProtocol,
  OlderReleases,
  ProtocolRequest,
  ProtocolResponse,
  Question,
} from './protocol.ts';
import { describeSparkleSetUp } from './sparkle-set-up.ts';

/**
 * Sparkle 2 on macOS.
 *
 * `GET {base}/appcast.xml`. The client reads every item, leaves out those that its system or its processor cannot have,
 * and takes the one with the highest version that is newer than its own. It states nothing by itself; an application may
 * add `current_version`, `arch`, `os_version` and `installation_id` to the query. So the document lists the offered
 * release, and older ones for clients whose system the offered one does not support.
 *
 * The client compares bundle versions (`CFBundleVersion`). A release is published with them when its appcast is
 * beside its files; else the feed states the version of the release.
 *
 * A generated document states no `phasedRolloutInterval`: the server decides, and the client would hold the update back
 * a second time. One that the publisher signed is served byte for byte, and its client applies what it states.
 */
export const sparkle: FeedProtocol = {
  shape: 'feed',
  name: 'sparkle',
  title: 'Sparkle 2 (macOS)',
  takesPost: false,
  varyHeaders: [],
  // As many as `generate_appcast` makes deltas from.
  olderReleasesMax: 5,
  formatsFor: (platform) => (platform === 'macos' ? SPARKLE_FORMATS.macos : []),
  signatureScheme: null,
  expectedSignature: SPARKLE_ED25519,
  osGate: 'client',
  mayOmit: () => ['version', 'arch'],
  parseRequest,
  listStatic: listAppcastAddresses,
  describeSetUp: describeSparkleSetUp,
  renderListing,
  renderSigned: (_machine, { documents }, document) => {
    const body = document === APPCAST ? documents.get(SPARKLE_APPCAST) : undefined;
    const headers = { 'content-type': 'application/rss+xml; charset=utf-8' };
    return body && { status: 200, headers, body };
  },
  listsOwnRelease: true,
  renderNoUpdate: ({ document }, _reason, input) => {
    if (document !== APPCAST) return undefined;
    const items = input.own === undefined ? [] : itemsOf([input.own], input);
    return renderAppcast({ items, rendersMarkdown: true, fileUrl: input.fileUrl });
  },
};

function parseRequest(asked: ProtocolRequest): Question | undefined {
  const named = parseAppcastPath(asked);
  if (named === undefined) return undefined;
  const { document, request } = named;
  const query = appcastQuery(request);
  return {
    document,
    query: {
      ...query,
      platform: 'macos',
      formats: sparkle.formatsFor('macos'),
      osGate: query.osVersion === null ? sparkle.osGate : 'server',
    },
  };
}

function renderListing(listing: FeedListing): ProtocolResponse {
  if (listing.document !== APPCAST) throw noAppcastSignature();
  const offered = itemsOf([listing.release], listing);
  const older = notNewerThan(offered, itemsOf(listing.olderReleases, listing));
  const { fileUrl } = listing;
  return renderAppcast({ items: [...offered, ...older], rendersMarkdown: true, fileUrl });
}

function itemsOf(
  releases: readonly Release[],
  { arch }: Pick<OlderReleases, 'arch'>,
): readonly AppcastItem[] {
  return releases.flatMap((release) => {
    const wanted = { platform: 'macos', arch, formats: sparkle.formatsFor('macos') } as const;
    const file = chooseFile(release, wanted);
    return file === undefined ? [] : [{ release, file, os: 'macos' }];
  });
}
