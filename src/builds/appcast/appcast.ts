import { isAppError } from '../../core/errors.ts';
import { childrenOf, parseXml, type XmlElement } from '../../core/xml.ts';

/**
 * Appcasts: the RSS feeds of Sparkle, WinSparkle and NetSparkle, as `generate_appcast`, `netsparkle-generate-appcast`
 * or a publisher writes them.
 */

/** In bytes. The feed of an application with hundreds of releases and their notes is smaller. */
export const APPCAST_BYTES_MAX = 4 * 1024 * 1024;

const SPARKLE_NAMESPACE = 'http://www.andymatuschak.org/xml-namespaces/sparkle';

/** A file that an item lists. Texts are as in the feed, without surrounding space; undefined: not stated. */
export interface AppcastEnclosure {
  /** An address, or a name relative to the feed's address. */
  readonly url: string;
  /** Bytes; undefined also for a text that is no number. */
  readonly length: number | undefined;
  /** Base64 of an Ed25519 signature over the bytes of the file. */
  readonly edSignature: string | undefined;
  /** `macos`, `windows`, `windows-x64`, `linux`, … */
  readonly os: string | undefined;
  /** `application`, `package` or `interactive-package`. */
  readonly installationType: string | undefined;
  /** Arguments that WinSparkle passes to the installer. */
  readonly installerArguments: string | undefined;
  /** For a delta: the bundle version of the application that the delta changes. */
  readonly deltaFrom: string | undefined;
}

/** One version in an appcast. Texts have no surrounding space; undefined: not stated. */
export interface AppcastItem {
  readonly title: string | undefined;
  /** The version that clients compare: `CFBundleVersion`. */
  readonly version: string | undefined;
  /** The version that users see. */
  readonly shortVersion: string | undefined;
  /** A date in the form of RFC 822: `Tue, 15 Oct 2024 14:50:20 +0200`. */
  readonly pubDate: string | undefined;
  /** The description without a language, else the first description. */
  readonly description: string | undefined;
  readonly link: string | undefined;
  readonly releaseNotesLink: string | undefined;
  readonly channel: string | undefined;
  readonly minimumSystemVersion: string | undefined;
  readonly maximumSystemVersion: string | undefined;
  readonly minimumAutoupdateVersion: string | undefined;
  readonly ignoreSkippedUpgradesBelowVersion: string | undefined;
  /** `arm64`. */
  readonly hardwareRequirements: string | undefined;
  /** Seconds, as the feed writes them. */
  readonly phasedRolloutInterval: string | undefined;
  /** The version below which the update is critical; empty: critical for every version; undefined: not critical. */
  readonly criticalUpdate: string | undefined;
  /** True when clients of some versions only show a page and do not install the update. */
  readonly isInformational: boolean;
  /** One file for each architecture or system; most items have one file. */
  readonly enclosures: readonly AppcastEnclosure[];
  readonly deltas: readonly AppcastEnclosure[];
}

/**
 * Reads the items of an appcast in the order of the feed. Leaves out files without an address.
 *
 * @returns undefined for a document that is not RSS
 * @throws AppError `invalid_request` for text that is not well-formed XML, or that has a document type declaration
 */
export function readAppcast(text: string): readonly AppcastItem[] | undefined {
  const root = parseXml(text.replace(/^\uFEFF/, ''));
  if (root.name !== 'rss') return undefined;
  const rss = withSparkleNames(root, new Set(['sparkle']));
  return childrenOf(rss, 'channel')
    .flatMap((channel) => childrenOf(channel, 'item'))
    .map(itemOf);
}

/** Like {@link readAppcast}, but returns undefined for text that is not well-formed. */
export function readAppcastOrUndefined(text: string): readonly AppcastItem[] | undefined {
  try {
    return readAppcast(text);
  } catch (error) {
    if (isAppError(error, 'invalid_request')) return undefined;
    throw error;
  }
}

/** The decoded last part of an address, which is the name of a file. */
export function fileNameOf(address: string): string {
  const last =
    address
      .replace(/[?#].*$/s, '')
      .split(/[/\\]/)
      .at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    // A percent sign that escapes nothing is a part of the name.
    return last;
  }
}

/**
 * Copies an element, and gives all names in Sparkle's namespace the prefix `sparkle`. A document may use another
 * prefix.
 */
function withSparkleNames(element: XmlElement, before: ReadonlySet<string>): XmlElement {
  const { attributes, children, text } = element;
  const declared = Object.entries(attributes).flatMap(([name, value]) =>
    name.startsWith('xmlns:') && value === SPARKLE_NAMESPACE ? [name.slice('xmlns:'.length)] : [],
  );
  const prefixes = declared.length === 0 ? before : new Set([...before, ...declared]);
  const rename = (name: string): string => {
    const colon = name.indexOf(':');
    return colon > 0 && prefixes.has(name.slice(0, colon)) ? `sparkle${name.slice(colon)}` : name;
  };
  return {
    name: rename(element.name),
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [rename(name), value]),
    ),
    children: children.map((child) => withSparkleNames(child, prefixes)),
    text,
  };
}

function itemOf(item: XmlElement): AppcastItem {
  const text = (name: string): string | undefined => stated(textOf(item, name));
  const enclosures = enclosuresOf(item, 'enclosure');
  const [first] = childrenOf(item, 'enclosure');
  // Older feeds state the versions on the enclosure, so Sparkle looks there first.
  const version = (name: string) => stated(first?.attributes[name]) ?? text(name);
  const description = localized(childrenOf(item, 'description'));
  const [critical] = childrenOf(item, 'sparkle:criticalUpdate');
  const tags = childrenOf(item, 'sparkle:tags').flatMap(({ children }) => children);
  const isTagged = tags.some(({ name }) => name === 'sparkle:criticalUpdate');
  const isCritical = critical !== undefined || isTagged || isCriticalFile(first);
  const criticalBelow = critical?.attributes['sparkle:version'] ?? '';
  return {
    title: text('title'),
    version: version('sparkle:version'),
    shortVersion: version('sparkle:shortVersionString'),
    pubDate: text('pubDate'),
    description: stated(description?.text),
    link: text('link'),
    releaseNotesLink: text('sparkle:releaseNotesLink'),
    channel: text('sparkle:channel'),
    minimumSystemVersion: text('sparkle:minimumSystemVersion'),
    maximumSystemVersion: text('sparkle:maximumSystemVersion'),
    minimumAutoupdateVersion: text('sparkle:minimumAutoupdateVersion'),
    ignoreSkippedUpgradesBelowVersion: text('sparkle:ignoreSkippedUpgradesBelowVersion'),
    hardwareRequirements: text('sparkle:hardwareRequirements'),
    phasedRolloutInterval: text('sparkle:phasedRolloutInterval'),
    criticalUpdate: isCritical ? criticalBelow.trim() : undefined,
    isInformational:
      childrenOf(item, 'sparkle:informationalUpdate').length > 0 ||
      (enclosures.length === 0 && text('link') !== undefined),
    enclosures,
    deltas: childrenOf(item, 'sparkle:deltas').flatMap((deltas) =>
      enclosuresOf(deltas, 'enclosure'),
    ),
  };
}

/** NetSparkle also states on the enclosure that an update is critical. */
function isCriticalFile(enclosure: XmlElement | undefined): boolean {
  return /^(true|1|yes)$/.test(enclosure?.attributes['sparkle:criticalUpdate'] ?? '');
}

function enclosuresOf(parent: XmlElement, name: string): readonly AppcastEnclosure[] {
  return childrenOf(parent, name).flatMap(({ attributes }) => {
    const url = stated(attributes.url);
    if (url === undefined) return [];
    const length = attributes.length?.trim() ?? '';
    return [
      {
        url,
        length: /^\d{1,15}$/.test(length) && Number(length) > 0 ? Number(length) : undefined,
        // By default, NetSparkle writes `signature`.
        edSignature: stated(attributes['sparkle:edSignature'] ?? attributes['sparkle:signature']),
        os: stated(attributes['sparkle:os']),
        installationType: stated(attributes['sparkle:installationType']),
        installerArguments: stated(attributes['sparkle:installerArguments']),
        deltaFrom: stated(attributes['sparkle:deltaFrom']),
      },
    ];
  });
}

function textOf(item: XmlElement, name: string): string | undefined {
  return localized(childrenOf(item, name))?.text;
}

function localized(elements: readonly XmlElement[]): XmlElement | undefined {
  return elements.find(({ attributes }) => attributes['xml:lang'] === undefined) ?? elements[0];
}

function stated(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
