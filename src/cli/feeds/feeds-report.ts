import { PLATFORMS, type Platform } from '../../domain/platform.ts';
import { neededSignature, servedFormats } from '../../updaters/registry.ts';
import { alignColumns, indented } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';
import type { ChannelAddresses, DialectFeed } from './describe-feeds.ts';
import type { OfferedFile } from './list-feeds.ts';

/** The output of `slipway feeds`. */

interface FeedsListing {
  readonly application: string;
  readonly revision: number;
  /** Undefined when `PUBLIC_URL` is not set: then the addresses begin with the placeholder. */
  readonly publicUrl: string | undefined;
  readonly placeholder: string;
  /** The store as sentences name it. */
  readonly place: string;
  readonly channels: readonly ChannelAddresses[];
  /** The only dialect to show, with the lines to paste; undefined: every dialect. */
  readonly updater?: string | undefined;
}

const PLATFORM_NAMES: Readonly<Record<Platform, string>> = {
  windows: 'Windows',
  macos: 'macOS',
  linux: 'Linux',
};

export function feedsJson({ application, revision, publicUrl, channels }: FeedsListing): object {
  return {
    app: application,
    catalog_revision: revision,
    public_url: publicUrl ?? null,
    channels: channels.map(({ channel, feeds, downloads, checkUpdate, unserved }) => ({
      channel: channel.name,
      needs_token: channel.isRestricted,
      feeds: feeds.map(({ protocol, url, serves, addresses, texts, notes }) => ({
        dialect: protocol.name,
        title: protocol.title,
        url,
        serves: serves.map(fileJson),
        addresses: addresses.map((each) => ({
          clients: each.clients,
          url: each.url,
          has_build: each.hasBuild,
        })),
        texts,
        notes,
      })),
      downloads: downloads.map(({ platform, url }) => ({ os: platform, url })),
      check_update: checkUpdate,
      unserved: unserved.map(({ file, matters }) => ({ ...fileJson(file), matters })),
    })),
  };
}

function fileJson({ platform, arch, format, version }: OfferedFile): object {
  return { os: platform, arch, format, version };
}

export function printFeeds(terminal: Terminal, listing: FeedsListing): void {
  const { application, place, revision, publicUrl, placeholder, channels, updater } = listing;
  print(terminal, `Feeds of ${application} in ${place} (catalog revision ${revision}):`);
  if (publicUrl === undefined) {
    print(
      terminal,
      `PUBLIC_URL is not set, so the addresses begin with ${placeholder}. Set PUBLIC_URL to the address that clients use, here and for the service, and run the command again.`,
    );
  }
  if (channels.length === 0) print(terminal, 'No channel offers a release yet.');
  for (const channel of channels) {
    for (const line of channelLines(channel, updater)) print(terminal, line);
  }
  if (updater !== undefined || channels.length === 0) return;
  const example = channels.flatMap(({ feeds }) => feeds).find(({ serves }) => serves.length > 0);
  print(
    terminal,
    `\nFor the lines to paste into an application, name its updater: slipway feeds --updater ${example?.protocol.name ?? 'electron'}`,
  );
}

function channelLines(addresses: ChannelAddresses, updater: string | undefined): string[] {
  const { channel, feeds } = addresses;
  const { name, isRestricted, files } = channel;
  const token = isRestricted ? ' (clients need an access token)' : '';
  // Before the first release, a developer may set up any updater, so the output shows every updater.
  const isShown = ({ serves }: DialectFeed) =>
    files.length === 0 || updater !== undefined || serves.length > 0;
  const shown = feeds.filter(isShown);
  const others = feeds.filter((feed) => !shown.includes(feed));
  return [
    '',
    `Channel ${name}${token}: ${files.length === 0 ? 'no release is offered' : kindsOf(files)}`,
    ...shown.flatMap((feed) => feedLines(feed, updater !== undefined)),
    ...(updater === undefined ? websiteLines(addresses, others) : []),
  ];
}

/** The addresses for a website, and the files of the channel that no updater asks for. */
function websiteLines(
  { downloads, checkUpdate, checkUpdateFields, unserved }: ChannelAddresses,
  others: readonly DialectFeed[],
): string[] {
  return [
    ...(others.length === 0 ? [] : ['', '  Other updaters, and what they take']),
    ...indented(4, alignColumns(others.map(({ protocol }) => [protocol.name, takenBy(protocol)]))),
    ...(downloads.length === 0 ? [] : ['', '  Download button on a website']),
    ...indented(
      4,
      alignColumns(downloads.map(({ platform, url }) => [PLATFORM_NAMES[platform], url])),
    ),
    '',
    '  An updater of your own',
    `    POST ${checkUpdate} with ${checkUpdateFields}`,
    ...(unserved.length === 0 ? [] : ['', '  Published files that no feed serves']),
    ...indented(
      4,
      alignColumns(
        unserved.map(({ file, matters }) => [
          `${file.platform}-${file.arch}`,
          file.format,
          file.version,
          matters,
        ]),
      ),
    ),
  ];
}

function feedLines(
  { protocol, serves, addresses, texts, notes }: DialectFeed,
  withTexts: boolean,
): string[] {
  return [
    '',
    `  ${protocol.name}, for ${protocol.title}${serves.length === 0 ? '' : `: ${kindsOf(serves)}`}`,
    ...indented(
      4,
      alignColumns(
        addresses.map(({ clients, url, hasBuild }) => [
          clients,
          // When no address has a build, the line above names no formats, so the addresses need no remark.
          hasBuild || serves.length === 0 ? url : `${url} (no build yet)`,
        ]),
      ),
    ),
    ...(withTexts ? textLines(texts, notes) : []),
  ];
}

/** The lines to paste, and the notes about them. */
export function textLines(texts: DialectFeed['texts'], notes: readonly string[]): string[] {
  return [
    ...texts.flatMap(({ into, text }) => [`    Into ${into}:`, ...indented(6, text.split('\n'))]),
    ...notes.map((note) => `    ${note}`),
  ];
}

/** `windows nsis, msi; linux appimage`. */
function kindsOf(files: readonly OfferedFile[]): string {
  return byPlatform((platform) => [
    ...new Set(files.filter((file) => file.platform === platform).map(({ format }) => format)),
  ]);
}

/** `takes windows msix`. */
function takenBy(protocol: DialectFeed['protocol']): string {
  const needed = neededSignature(protocol);
  const signed = needed === null ? '' : `, with a ${needed} signature`;
  const formats = byPlatform((platform) => servedFormats(protocol, platform));
  return `takes ${formats}${signed}`;
}

function byPlatform(formatsOf: (platform: Platform) => readonly string[]): string {
  return PLATFORMS.map((platform) => [platform, formatsOf(platform)] as const)
    .filter(([, formats]) => formats.length > 0)
    .map(([platform, formats]) => `${platform} ${formats.join(', ')}`)
    .join('; ');
}
