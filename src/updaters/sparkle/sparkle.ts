import { SPARKLE_APPCAST, SPARKLE_FORMATS } from '../../domain/carried-document.ts';
import { SPARKLE_ED25519 } from '../../domain/signature.ts';
import { APPCAST, chooseFile } from '../appcast/appcast.ts';
import { appcastAddress } from '../appcast/appcast-addresses.ts';
import { listAppcastAddresses, listedAppcast } from '../appcast/appcast-feed.ts';
import type { FeedProtocol } from '../protocol.ts';
import { describeSparkleSetUp } from './sparkle-set-up.ts';

/**
 * Sparkle 2 on macOS.
 *
 * `GET {base}/appcast.xml`. The client reads every item, leaves out items that its system or its processor does not
 * support, and takes the item with the highest version, when this version is newer than its own. The client states
 * nothing by itself; an application may add `current_version`, `arch`, `os_version` and `installation_id` to the query.
 * So the document also lists older releases, for clients whose system the offered release does not support.
 *
 * The client compares bundle versions (`CFBundleVersion`). A release has a bundle version when the publisher publishes
 * it with an appcast beside the files. Without a bundle version, the feed states the version of the release.
 *
 * A generated document states no `phasedRolloutInterval`: the server decides on the rollout, and with an interval the
 * client would delay the update a second time. The service serves a signed document byte for byte, and the client
 * applies the interval in the document.
 */
export const sparkle: FeedProtocol = {
  shape: 'feed',
  name: 'sparkle',
  title: 'Sparkle 2 (macOS)',
  takesPost: false,
  addresses: [appcastAddress('getSparkleAppcast', 'Sparkle')],
  varyHeaders: [],
  formatsFor: (platform) => (platform === 'macos' ? SPARKLE_FORMATS.macos : []),
  expectedSignature: SPARKLE_ED25519,
  mayOmit: () => ['version', 'arch'],
  listStatic: listAppcastAddresses,
  describeSetUp: describeSparkleSetUp,
  ...listedAppcast({
    platform: 'macos',
    formats: SPARKLE_FORMATS.macos,
    rendersMarkdown: true,
    itemsOf: (releases, { arch }) =>
      releases.flatMap((release) => {
        const wanted = { platform: 'macos', arch, formats: SPARKLE_FORMATS.macos } as const;
        const file = chooseFile(release, wanted);
        return file === undefined ? [] : [{ release, file, os: 'macos' }];
      }),
  }),
  renderSigned: (_machine, { documents }, document) => {
    const body = document === APPCAST ? documents.get(SPARKLE_APPCAST) : undefined;
    const headers = { 'content-type': 'application/rss+xml; charset=utf-8' };
    return body && { status: 200, headers, body };
  },
};
