import type { Format, Platform } from '../../domain/platform.ts';
import type { Release } from '../../domain/release.ts';
import type { FeedProtocol, OlderReleases } from '../protocol.ts';
import { APPCAST, type AppcastItem, notNewerThan, renderAppcast } from './appcast.ts';
import { appcastQuery, noAppcastSignature, parseAppcastPath } from './appcast-request.ts';

/**
 * The appcasts of Sparkle and WinSparkle. Their clients read every item and compare the version of the system, so a
 * document lists the offered release and older ones, for clients whose system the offered one does not support.
 */

interface ListedAppcast {
  readonly platform: Platform;
  /** Best first. */
  readonly formats: readonly Format[];
  /** Whether clients show Markdown; else notes are HTML. */
  readonly rendersMarkdown: boolean;
  /** The items of releases, in their order. A release without a file for the client has none. */
  readonly itemsOf: (
    releases: readonly Release[],
    asked: Pick<OlderReleases, 'arch'>,
  ) => readonly AppcastItem[];
}

const DIALECT = { osGate: 'client', signatureScheme: null } as const;

/** The part of a dialect that parses requests for such a document, and renders it. */
export function listedAppcast({
  platform,
  formats,
  rendersMarkdown,
  itemsOf,
}: ListedAppcast): Pick<
  FeedProtocol,
  | keyof typeof DIALECT
  | 'olderReleasesMax'
  | 'listsOwnRelease'
  | 'parseRequest'
  | 'renderListing'
  | 'renderNoUpdate'
> {
  return {
    ...DIALECT,
    // As many as `generate_appcast` makes deltas from.
    olderReleasesMax: 5,
    listsOwnRelease: true,
    parseRequest: (asked) => {
      const named = parseAppcastPath(asked);
      if (named === undefined) return undefined;
      const query = appcastQuery(named.request, DIALECT);
      return { document: named.document, query: { ...query, platform, formats } };
    },
    renderListing: (listing) => {
      if (listing.document !== APPCAST) throw noAppcastSignature();
      const offered = itemsOf([listing.release], listing);
      const older = notNewerThan(offered, itemsOf(listing.olderReleases, listing));
      const { fileUrl } = listing;
      return renderAppcast({ items: [...offered, ...older], rendersMarkdown, fileUrl });
    },
    renderNoUpdate: ({ document }, _reason, { own, arch, fileUrl }) => {
      if (document !== APPCAST) return undefined;
      const items = own === undefined ? [] : itemsOf([own], { arch });
      return renderAppcast({ items, rendersMarkdown, fileUrl });
    },
  };
}
