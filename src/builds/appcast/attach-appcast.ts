import { dirname } from 'node:path';
import { DELTA, SPARKLE_FACTS, type SparkleFacts } from '../../domain/companion.ts';
import { parseOsVersion } from '../../domain/os-version.ts';
import type { BuiltDocument, SkippedFile } from '../build-output.ts';
import { checkFilename } from '../filename.ts';
import { refusal } from '../refusal.ts';
import { beside, describeFile, type SourceFile } from '../source-file.ts';
import type { Unfinished } from '../unfinished.ts';
import { type AppcastEnclosure, type AppcastItem, fileNameOf } from './appcast.ts';
import { readAppcastNotes } from './appcast-notes.ts';
import { type AppcastSource, platformOfAppcast } from './appcast-source.ts';
import { isOfVersion, listedVersion } from './appcast-version.ts';
import { carryAppcast, findNewer } from './carry-appcast.ts';
import { addEdSignature, parseEdSignature } from './ed-signature.ts';

/** Reads the facts that an appcast states about the files beside it. */

interface AttachedAppcast {
  /** Says why the appcast is not published; absent when the appcast is signed and published. */
  readonly skipped?: SkippedFile;
  readonly signed: readonly BuiltDocument[];
  readonly releaseNotes?: string | undefined;
  /** The paths of the deltas that are published. */
  readonly deltas: readonly string[];
}

const UNUSED = { signed: [], deltas: [] };

/**
 * Adds signatures, bundle versions, minimum systems and deltas to the packages of the files that the appcast lists for a
 * version. Publishing verifies the signatures later, because publishing reads every byte anyway.
 *
 * @throws AppError `invalid_artifact` when the appcast states another version or size for a file, lists a missing file,
 *   or states a fact that a generated appcast cannot state
 */
export async function attachAppcast(
  appcast: AppcastSource,
  packages: readonly Unfinished[],
  version: string,
): Promise<AttachedAppcast> {
  const { source, items } = appcast;
  const { path } = source;
  const near = packages.filter(
    (unfinished) => dirname(unfinished.package.file.path) === dirname(path),
  );
  const own = items.filter((item) => isOfVersion(item, version));
  if (own.length === 0) {
    refuseOtherVersion(path, items, near, version);
    return { ...UNUSED, skipped: { path, reason: `it has no item of version ${version}` } };
  }
  const isCarried = mayCarry(appcast, own);
  const deltas: string[] = [];
  let used = 0;
  for (const item of own) {
    for (const enclosure of item.enclosures) {
      const unfinished = findPackage(enclosure, near);
      if (unfinished === undefined) {
        refuseMissing(appcast, enclosure, near);
        continue;
      }
      if (!isCarried) refuseInformational(path, item);
      describe(path, item, enclosure, unfinished, version);
      if (enclosure === item.enclosures[0]) {
        deltas.push(...(await attachDeltas(source, item, unfinished)));
      }
      used += 1;
    }
  }
  if (used === 0)
    return { ...UNUSED, skipped: { path, reason: 'it lists none of the published files' } };
  const releaseNotes = await readAppcastNotes(source, own);
  if (isCarried) {
    const find = (enclosure: AppcastEnclosure) => findPackage(enclosure, near);
    return { signed: carryAppcast(appcast, own, version, find), releaseNotes, deltas };
  }
  return {
    signed: [],
    skipped: { path, ...whyUnpublished(own, releaseNotes) },
    releaseNotes,
    deltas,
  };
}

/**
 * Several releases of another server may share one appcast. Only the newest of these releases can carry the appcast.
 */
function mayCarry(
  { source, items, signatures }: AppcastSource,
  own: readonly AppcastItem[],
): boolean {
  const isShared = source.imported !== undefined && findNewer(items, own) !== undefined;
  return signatures.length > 0 && !isShared;
}

function findPackage(
  enclosure: AppcastEnclosure,
  packages: readonly Unfinished[],
): Unfinished | undefined {
  const name = fileNameOf(enclosure.url).normalize('NFC');
  return packages.find((unfinished) => unfinished.package.file.name.normalize('NFC') === name);
}

/**
 * Clients compare their version with the version in the appcast. With a wrong version there, clients get the update
 * again and again, or never.
 */
function refuseOtherVersion(
  path: string,
  items: readonly AppcastItem[],
  near: readonly Unfinished[],
  version: string,
): void {
  for (const item of items) {
    const unfinished = item.enclosures.map((each) => findPackage(each, near)).find(Boolean);
    if (unfinished === undefined) continue;
    throw refusal(
      path,
      `it lists ${unfinished.package.file.name} as version ${listedVersion(item)}, not ${version}. Publish it as the version that it has, or write the appcast again.`,
    );
  }
}

/** Accepts a missing file for another system, because another job may build that file. */
function refuseMissing(
  { source, signatures }: AppcastSource,
  { url, os }: AppcastEnclosure,
  near: readonly Unfinished[],
): void {
  const name = fileNameOf(url);
  const isElsewhere =
    os !== undefined &&
    near.every((unfinished) => unfinished.package.platform !== platformOfAppcast(os));
  if (isElsewhere || signatures.length > 0 || source.siblings.includes(name)) return;
  throw refusal(
    source.path,
    `it lists ${name}, which is not there. Write the appcast again, or remove it.`,
  );
}

/**
 * For an informational update, clients only show a page. With a generated appcast, clients would install the update.
 */
function refuseInformational(path: string, { isInformational }: AppcastItem): void {
  if (!isInformational) return;
  throw refusal(
    path,
    'it has a sparkle:informationalUpdate, which only a signed appcast keeps. Remove the element, or sign the appcast with sign_update.',
  );
}

function describe(
  path: string,
  item: AppcastItem,
  enclosure: AppcastEnclosure,
  unfinished: Unfinished,
  version: string,
): void {
  const { file, platform } = unfinished.package;
  checkLength(path, enclosure, file);
  if (enclosure.edSignature !== undefined) {
    const signature = parseEdSignature(path, file.name, enclosure.edSignature);
    addEdSignature(path, file.name, unfinished.signatures, signature);
  }
  const bundleVersion = item.version === version ? undefined : item.version;
  refuseTwoVersions(path, file.name, unfinished.facts.bundleVersion, bundleVersion);
  unfinished.facts = {
    ...unfinished.facts,
    ...(bundleVersion === undefined
      ? {}
      : { bundleVersion: short(path, 'version', bundleVersion, BUNDLE_VERSION_MAX) }),
    ...sparkleFacts(path, { ...item, ...enclosure }),
  };
  if (platform === 'linux' || item.minimumSystemVersion === undefined) return;
  unfinished.minimumOsVersion ??= minimumOf(path, item.minimumSystemVersion);
}

/**
 * Clients compare their version with the stated version. When appcasts state two versions for one file, one version is
 * wrong. With the wrong version, clients get the update again and again, or never.
 */
function refuseTwoVersions(
  path: string,
  name: string,
  before: string | undefined,
  now: string | undefined,
): void {
  if (before === undefined || now === undefined || before === now) return;
  throw refusal(
    path,
    `it lists ${name} with the sparkle:version ${JSON.stringify(now.slice(0, 80))}, and another item with ${JSON.stringify(before.slice(0, 80))}. Keep the one with the CFBundleVersion of the file.`,
  );
}

function checkLength(
  path: string,
  { length }: AppcastEnclosure,
  file: { name: string; size: number },
): void {
  if (length === undefined || length === file.size) return;
  throw refusal(
    path,
    `it states ${length} bytes for ${file.name}, which has ${file.size}. They come from different builds; write the appcast again.`,
  );
}

/** Limits in characters, as in the manifest. */
const BUNDLE_VERSION_MAX = 128;
const FACT_MAX = 512;

function short(path: string, name: string, value: string, max = FACT_MAX): string {
  if (value.length <= max) return value;
  throw refusal(
    path,
    `its ${name} has ${value.length} characters; at most ${max} are allowed. Write the appcast again.`,
  );
}

function sparkleFacts(
  path: string,
  stated: SparkleFacts | AppcastItem,
): { sparkle?: SparkleFacts } {
  const facts = SPARKLE_FACTS.flatMap((name) => {
    const value = (stated as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'string' ? [[name, short(path, name, value)]] : [];
  });
  return facts.length === 0 ? {} : { sparkle: Object.fromEntries(facts) };
}

/** Accepts `10.0-19045` too, because WinSparkle reads such versions. */
function minimumOf(path: string, text: string): string {
  const dotted = text.replace('-', '.');
  const version = parseOsVersion(dotted)?.join('.');
  if (version !== undefined && /^[\d.]+$/.test(dotted)) return version;
  throw refusal(
    path,
    `minimumSystemVersion ${JSON.stringify(text.slice(0, 40))} is not a version of dotted numbers. Write it like 10.15 or 10.0.19045.`,
  );
}

/**
 * Adds an item's deltas to the file that these deltas produce. Leaves out deltas that are not beside the
 * appcast.
 */
async function attachDeltas(
  appcast: SourceFile,
  { deltas }: AppcastItem,
  unfinished: Unfinished,
): Promise<readonly string[]> {
  const { path, siblings } = appcast;
  const attached: string[] = [];
  for (const enclosure of deltas) {
    const name = fileNameOf(enclosure.url);
    const { deltaFrom, edSignature } = enclosure;
    if (deltaFrom === undefined || !siblings.includes(name)) continue;
    const file = await describeFile(beside(appcast, name), null, siblings);
    checkLength(path, enclosure, file);
    const signatures = edSignature === undefined ? [] : [parseEdSignature(path, name, edSignature)];
    const filename = checkFilename(file.path, name);
    if (unfinished.companions.some((each) => each.filename === filename)) continue;
    unfinished.companions.push({
      kind: DELTA,
      base: short(path, 'deltaFrom', deltaFrom, BUNDLE_VERSION_MAX),
      path: file.path,
      filename,
      size: file.size,
      signatures,
      stated: [],
      facts: {},
    });
    attached.push(file.path);
  }
  return attached;
}

/** Says why the appcast is not published, and names the facts that a generated appcast leaves out. */
function whyUnpublished(
  own: readonly AppcastItem[],
  notes: string | undefined,
): Omit<SkippedFile, 'path'> {
  const stated = (name: 'phasedRolloutInterval' | 'channel' | 'releaseNotesLink') =>
    own.find((item) => item[name] !== undefined)?.[name];
  const channel = stated('channel');
  const leftOut = [
    ...(stated('phasedRolloutInterval') === undefined
      ? []
      : ['its phasedRolloutInterval is left out: the server decides, see --rollout']),
    ...(channel === undefined
      ? []
      : [`its channel ${channel.slice(0, 80)} is left out: publish with --channel`]),
    ...(stated('releaseNotesLink') === undefined || notes !== undefined
      ? []
      : ['its releaseNotesLink is left out: give the notes with --notes-file']),
  ];
  const reason = [
    'read for the signatures and versions that it states; this service generates its own feeds',
    ...leftOut,
  ].join('; ');
  return leftOut.length === 0 ? { reason } : { reason, isLoss: true };
}
