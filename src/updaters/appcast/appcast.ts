import { escapeXml } from '../../core/xml.ts';
import { type Companion, DELTA } from '../../domain/companion.ts';
import { admittedArches, isNativeOn } from '../../domain/compatible-arches.ts';
import { parseOsVersion } from '../../domain/os-version.ts';
import type { Arch, Format, Platform } from '../../domain/platform.ts';
import { type Artifact, notesFor, type Release } from '../../domain/release.ts';
import { type ArtifactSignature, SPARKLE_ED25519 } from '../../domain/signature.ts';
import { compareSparkleVersions } from '../../domain/sparkle-version.ts';
import type { ProtocolResponse } from '../protocol.ts';

/** Renders appcasts, the RSS of Sparkle, WinSparkle and NetSparkle, and chooses the files that they list. */

/** The names of the documents. NetSparkle asks for the signature when it requires a signed appcast. */
export const APPCAST = 'appcast.xml';
export const APPCAST_SIGNATURE = 'appcast.xml.signature';

/** One file of a release. A feed has one item for each file. */
export interface AppcastItem {
  readonly release: Release;
  readonly file: Artifact;
  /** `sparkle:os`. */
  readonly os: string;
}

interface Appcast {
  /** The offered release first. */
  readonly items: readonly AppcastItem[];
  /** Sparkle and NetSparkle render Markdown. WinSparkle renders HTML only. */
  readonly rendersMarkdown: boolean;
  readonly fileUrl: (version: string, filename: string) => string;
}

/**
 * The document of an appcast. A document without items means "no update": Sparkle, WinSparkle and NetSparkle then
 * report that no version is newer.
 */
export function renderAppcast({ items, rendersMarkdown, fileUrl }: Appcast): ProtocolResponse {
  const bases = new Set(items.map(sparkleVersionOf));
  const lines = items.flatMap((item) => [
    '    <item>',
    ...itemLines(item, rendersMarkdown, fileUrl, bases).map((line) => `      ${line}`),
    '    </item>',
  ]);
  return {
    status: 200,
    headers: { 'content-type': 'application/rss+xml; charset=utf-8' },
    body: [
      '<?xml version="1.0" encoding="utf-8"?>',
      '<rss version="2.0" xmlns:sparkle="http://www.andymatuschak.org/xml-namespaces/sparkle">',
      '  <channel>',
      '    <title>Updates</title>',
      ...lines,
      '  </channel>',
      '</rss>',
      '',
    ].join('\n'),
  };
}

/** The version that clients compare with their own. */
export function sparkleVersionOf({ release, file }: Pick<AppcastItem, 'release' | 'file'>): string {
  return file.bundleVersion ?? release.version;
}

/**
 * The items of older releases, except items that clients would take for newer than the offered release. Clients compare
 * bundle versions. An older release may have a higher bundle version: clients would install it instead of the offered
 * release.
 */
export function notNewerThan<I extends AppcastItem>(
  offered: readonly I[],
  older: readonly I[],
): readonly I[] {
  const versions = offered.map(sparkleVersionOf);
  return older.filter((item) =>
    versions.every((version) => compareSparkleVersions(sparkleVersionOf(item), version) <= 0),
  );
}

/** The signature that clients verify; undefined for none. */
export function edSignatureOf({
  signatures = [],
}: {
  readonly signatures?: readonly ArtifactSignature[];
}): string | undefined {
  return signatures.find(({ scheme }) => scheme === SPARKLE_ED25519)?.value;
}

function itemLines(
  item: AppcastItem,
  rendersMarkdown: boolean,
  fileUrl: Appcast['fileUrl'],
  bases: ReadonlySet<string>,
): readonly string[] {
  const { release, file, os } = item;
  const facts = file.sparkle ?? {};
  const describe = (each: Artifact | Companion, more: Attributes): string =>
    element('enclosure', {
      url: fileUrl(release.version, each.filename),
      length: String(each.size),
      type: 'application/octet-stream',
      'sparkle:os': os,
      'sparkle:edSignature': edSignatureOf(each),
      ...more,
    });
  const { installationType, installerArguments } = facts;
  const deltas = deltasOf(item, bases).map((delta) =>
    describe(delta, { 'sparkle:deltaFrom': delta.base }),
  );
  return [
    text('title', release.name ?? release.version),
    text('pubDate', new Date(release.releasedAt).toUTCString().replace('GMT', '+0000')),
    text('sparkle:version', sparkleVersionOf(item)),
    text('sparkle:shortVersionString', release.version),
    text('sparkle:minimumSystemVersion', minimumOf(file)),
    text('sparkle:maximumSystemVersion', facts.maximumSystemVersion),
    text('sparkle:minimumAutoupdateVersion', facts.minimumAutoupdateVersion),
    text('sparkle:ignoreSkippedUpgradesBelowVersion', facts.ignoreSkippedUpgradesBelowVersion),
    text('sparkle:hardwareRequirements', hardwareOf(file)),
    ...(facts.criticalUpdate === undefined
      ? []
      : [element('sparkle:criticalUpdate', { 'sparkle:version': facts.criticalUpdate })]),
    descriptionOf(release, rendersMarkdown),
    describe(file, {
      'sparkle:installationType': installationType,
      'sparkle:installerArguments': installerArguments,
    }),
    ...(deltas.length === 0
      ? []
      : ['<sparkle:deltas>', ...deltas.map((line) => `  ${line}`), '</sparkle:deltas>']),
  ].filter((line) => line !== '');
}

/** An element with a text; empty for a value that is not stated. */
function text(name: string, value: string | undefined): string {
  return value === undefined ? '' : `<${name}>${escapeXml(value)}</${name}>`;
}

type Attributes = Readonly<Record<string, string | undefined>>;

/** An empty element. Leaves out attributes that are empty or not stated. */
function element(name: string, attributes: Attributes): string {
  const stated = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [` ${key}="${escapeAttribute(value)}"`],
  );
  return `<${name}${stated.join('')}/>`;
}

/** Writes line breaks and tabs as references, because a parser reads plain line breaks in attributes as spaces. */
function escapeAttribute(value: string): string {
  return escapeXml(value).replace(/[\t\n\r]/g, (found) => `&#${found.charCodeAt(0)};`);
}

/**
 * The deltas from versions that the feed lists as well. When the file is signed, leaves out deltas without a signature,
 * because clients would refuse them.
 */
function deltasOf({ file }: AppcastItem, bases: ReadonlySet<string>): readonly Companion[] {
  const isSigned = edSignatureOf(file) !== undefined;
  return file.companions.filter(
    (companion) =>
      companion.kind === DELTA &&
      companion.base !== undefined &&
      bases.has(companion.base) &&
      (edSignatureOf(companion) !== undefined || !isSigned),
  );
}

/**
 * The minimum system. On macOS, it is the version of the product. On Windows, it is `major.minor.build`. A client
 * ignores a number after the build, so such a number raises the build by one.
 */
function minimumOf({ platform, minimumOsVersion }: Artifact): string | undefined {
  const parsed = parseOsVersion(minimumOsVersion ?? '');
  if (parsed === undefined || platform === 'linux') return undefined;
  if (platform === 'macos') return parsed.join('.');
  const [major, minor = 0, build = 0, ...finer] = parsed;
  return [major, minor, finer.some((number) => number > 0) ? build + 1 : build].join('.');
}

/** Since 2.9, Sparkle leaves out an item when the Mac does not meet the item's requirement. */
function hardwareOf({ platform, arch, sparkle }: Artifact): string | undefined {
  const isArmOnly = platform === 'macos' && arch === 'arm64';
  return sparkle?.hardwareRequirements ?? (isArmOnly ? 'arm64' : undefined);
}

/** Notes that begin with a tag are HTML: the tools of Sparkle write such notes. */
const HTML = /^\s*<[a-z!]/i;

function descriptionOf({ notes }: Release, rendersMarkdown: boolean): string {
  const own = notesFor(notes, null);
  if (own === null) return '';
  if (HTML.test(own)) return text('description', own);
  if (rendersMarkdown) {
    return `<description sparkle:format="markdown">${escapeXml(own)}</description>`;
  }
  return text('description', `<div style="white-space: pre-wrap">${escapeXml(own)}</div>`);
}

/** The machine that a file is chosen for. */
interface Wanted {
  readonly platform: Platform;
  /** Null when the client does not state it. */
  readonly arch: Arch | null;
  /** Best first. */
  readonly formats: readonly Format[];
}

/**
 * The file of a release for a machine; undefined for none. The first criterion is a native build. The second criterion
 * is a signature, because an application with a public key refuses files without a signature. The third criterion is
 * the format.
 *
 * When the client states no architecture, a build that runs on every Mac comes first, because an Intel Mac with a
 * Sparkle before 2.9 would install an arm64 build.
 */
export function chooseFile(
  { artifacts }: Pick<Release, 'artifacts'>,
  wanted: Wanted,
): Artifact | undefined {
  const { platform, arch, formats } = wanted;
  const arches = arch === null ? UNSTATED : admittedArches(platform, arch);
  const isLastResort = (file: Artifact): boolean =>
    arch === null ? file.arch === 'arm64' : !isNativeOn(arch, file);
  const [best] = artifacts
    .filter(
      (file) =>
        file.platform === platform && formats.includes(file.format) && arches.includes(file.arch),
    )
    .sort(
      (a, b) =>
        Number(isLastResort(a)) - Number(isLastResort(b)) ||
        Number(isUnsigned(a)) - Number(isUnsigned(b)) ||
        formats.indexOf(a.format) - formats.indexOf(b.format) ||
        arches.indexOf(a.arch) - arches.indexOf(b.arch),
    );
  return best;
}

const UNSTATED: readonly Arch[] = ['universal', 'x64', 'arm64', 'ia32'];

function isUnsigned(file: Artifact): boolean {
  return edSignatureOf(file) === undefined;
}
