import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { listed } from '../core/counted.ts';
import { AppError } from '../core/errors.ts';
import { BLOCKMAP } from '../domain/companion.ts';
import {
  isAppcastPart,
  listedForOthers,
  platformsListed,
  readAppcasts,
} from './appcast/appcast-source.ts';
import { attachAppcasts } from './appcast/attach-appcasts.ts';
import type {
  BuildOutput,
  BuiltArtifact,
  BuiltDocument,
  SkippedFile,
  StagedShare,
} from './build-output.ts';
import {
  checkUnique,
  dropOlderPackages,
  refuseForgottenVersion,
  refuseTwoOfOneName,
} from './check-packages.ts';
import { parsePathArgument } from './descriptor.ts';
import { isFeedName } from './electron/feed.ts';
import { attachFeed } from './electron-feed/attach-feed.ts';
import { identify } from './identify.ts';
import { refusal } from './refusal.ts';
import { isRehashed } from './rehash.ts';
import { scanDirectory } from './scan-directory.ts';
import {
  attachSidecar,
  findSidecars,
  isSidecarName,
  readEmbeddedFacts,
  refuseEmptyInstaller,
} from './sidecar.ts';
import { describeFile, type SourceFile } from './source-file.ts';
import { createUnfinished, finishPackage, type Unfinished } from './unfinished.ts';

const SKIPPED_SHOWN_MAX = 20;

/**
 * Reads build output: the packages to publish as `version`, and each file that is left out, with the reason. This
 * function hashes nothing; publishing compares the digests in `stated`.
 *
 * Each path is a directory as electron-builder, Electron Forge, Tauri or Velopack write it, a file, or
 * `FILE,os=…,arch=…,format=…,name=…,minimum_os_version=…`. Sidecars beside a named file (`FILE.sig`,
 * `FILE.edSignature`, `FILE.blockmap`) are read too; a feed beside a named file (`latest.yml`, `appcast.xml`) is not.
 *
 * @throws AppError `invalid_artifact` (also when there is nothing to publish), and `unknown_platform`, `unknown_arch`,
 *   `unknown_format` for a descriptor
 */
export async function readBuildOutput(request: {
  readonly paths: readonly string[];
  readonly version: string;
  /**
   * The files of one release, when the directories contain many releases. This function reads these files instead of
   * `paths`; messages still name `paths`.
   */
  readonly files?: readonly SourceFile[];
  /** The names of files whose bytes the publisher accepts although a feed states others; absent: none. */
  readonly rehash?: readonly string[];
}): Promise<BuildOutput> {
  const { version, rehash = [] } = request;
  const skipped: SkippedFile[] = [];
  const signed: BuiltDocument[] = [];
  let staged: StagedShare | null = null;
  let described: BuildOutput['described'] = { name: null, notes: null };
  const sources = request.files ?? (await collect(request.paths, skipped));
  const appcasts = await readAppcasts(sources);
  const ofOthers = listedForOthers(appcasts, version);
  const platforms = platformsListed(appcasts, version);
  const packages = new Map<string, Unfinished>();
  for (const source of sources) {
    if (isSidecarName(source.name) || isFeed(source) || isAppcastPart(source)) continue;
    const other = source.statement === null ? ofOthers.get(source.path) : undefined;
    if (other !== undefined) {
      const reason = `the appcast lists it as version ${other}, not ${version}`;
      skipped.push({ path: source.path, reason });
      continue;
    }
    const identified = await identify(source, version, platforms.get(source.path));
    if ('skip' in identified) {
      skipped.push({ path: source.path, reason: identified.skip });
    } else {
      const unfinished = createUnfinished(identified);
      if (identified.format === 'appimage') {
        Object.assign(unfinished, await readEmbeddedFacts(source.path));
      }
      packages.set(source.path, unfinished);
    }
  }
  refuseForgottenVersion(sources, [...packages.values()], version);
  for (const source of sources.filter(({ name }) => isSidecarName(name))) {
    const unused = await attachSidecar(source, packages, version, rehash);
    if (unused !== undefined) skipped.push(unused);
  }
  refuseUnknownNames(rehash, [...packages.values()]);
  for (const source of sources.filter(isFeed)) {
    const attached = await attachFeed(source, [...packages.values()], version, rehash);
    if (attached.skipped !== undefined) skipped.push(attached.skipped);
    if (attached.signed !== undefined) signed.push(attached.signed);
    staged = joinStaged(staged, source.path, attached.stagingPercentage);
    // Each platform may have notes of its own, but a release has one text: the first feed with notes counts.
    described = {
      name: described.name ?? attached.releaseName ?? null,
      notes: described.notes ?? attached.releaseNotes ?? null,
    };
  }
  const fromAppcasts = await attachAppcasts(appcasts, sources, [...packages.values()], version);
  skipped.push(...fromAppcasts.skipped);
  signed.push(...fromAppcasts.signed);
  described = { ...described, notes: described.notes ?? fromAppcasts.releaseNotes ?? null };
  skipped.push(...dropOlderPackages(packages));
  for (const unfinished of packages.values()) refuseEmptyInstaller(unfinished);
  const artifacts = [...packages.values()].map((unfinished) => finishPackage(unfinished, version));
  checkSomething(request.paths, artifacts, skipped);
  checkUnique(artifacts);
  refuseTwoOfOneName(signed);
  return {
    artifacts,
    skipped,
    signed,
    withoutFeed: findWithoutFeed(packages, sources),
    staged,
    described,
  };
}

/**
 * A package with a block map is from electron-builder, which writes an update document only when its configuration has
 * `publish`.
 */
function findWithoutFeed(
  packages: ReadonlyMap<string, Unfinished>,
  sources: readonly SourceFile[],
): string | undefined {
  const feeds = sources.filter((each) => isFeed(each) && /\.ya?ml$/i.test(each.name));
  const folders = new Set(feeds.map(({ path }) => dirname(path)));
  return [...packages.values()].find(
    ({ package: { file }, companions, facts }) =>
      file.statement === null &&
      (facts.blockMapSize !== undefined || companions.some(({ kind }) => kind === BLOCKMAP)) &&
      !folders.has(dirname(file.path)),
  )?.package.file.path;
}

/** @throws AppError `invalid_request` for a file of `--rehash` that is not published */
function refuseUnknownNames(rehash: readonly string[], packages: readonly Unfinished[]): void {
  const paths = packages.flatMap(({ package: { file }, companions }) => [
    file.path,
    ...companions.map(({ path }) => path),
  ]);
  const unknown = rehash.find((name) => !paths.some((path) => isRehashed([name], path)));
  if (unknown === undefined) return;
  throw new AppError(
    'invalid_request',
    `--rehash ${JSON.stringify(unknown)} names no file of this build. Files: ${listed(
      paths.map((path) => basename(path)),
      SKIPPED_SHOWN_MAX,
    )}.`,
  );
}

/** @throws AppError `invalid_artifact` for feeds that contradict each other */
function joinStaged(
  before: StagedShare | null,
  path: string,
  percentage: number | undefined,
): StagedShare | null {
  if (percentage === undefined) return before;
  if (before === null || before.percentage === percentage) return { percentage, statedIn: path };
  throw refusal(
    path,
    `it states the stagingPercentage ${percentage}, and ${before.statedIn} states ${before.percentage}. A release has one rollout: build with one value.`,
  );
}

/** A file with a stated format is a package, even a YAML file. */
function isFeed(source: SourceFile): boolean {
  return isFeedName(source.name) && source.statement?.format === undefined;
}

/** Collects every file once. A file that the publisher named replaces the same file found in a directory. */
async function collect(paths: readonly string[], skipped: SkippedFile[]): Promise<SourceFile[]> {
  const byRealPath = new Map<string, SourceFile>();
  const add = async (source: SourceFile) => {
    const key = await realpath(source.path);
    const known = byRealPath.get(key);
    if (known?.statement && Object.keys(source.statement ?? {}).length > 0) {
      if (Object.keys(known.statement).length > 0)
        throw refusal(source.path, 'it is given twice with a description. Give it once.');
    } else if (known?.statement) return;
    if (known === undefined || source.statement !== null) byRealPath.set(key, source);
  };
  for (const argument of paths) {
    const { path, isDirectory, statement } = await parsePathArgument(argument);
    if (isDirectory) {
      const scan = await scanDirectory(path);
      for (const file of scan.files) await add(file);
      skipped.push(...scan.skipped);
    } else {
      const file = await describeFile(path, statement);
      await add(file);
      const sidecars = await findSidecars(file);
      for (const sidecar of sidecars.files) await add(sidecar);
      skipped.push(...sidecars.skipped);
    }
  }
  const isNamed = new Set([...byRealPath.values()].map(({ path }) => path));
  skipped.splice(0, skipped.length, ...skipped.filter(({ path }) => !isNamed.has(path)));
  return [...byRealPath.values()];
}

function checkSomething(
  paths: readonly string[],
  artifacts: readonly BuiltArtifact[],
  skipped: readonly SkippedFile[],
): void {
  if (artifacts.length > 0) return;
  const shown = skipped
    .slice(0, SKIPPED_SHOWN_MAX)
    .map(({ path, reason }) => `  ${path}: ${reason}`);
  const more = skipped.length - shown.length;
  const looked =
    paths.length === 0
      ? 'the command was given no path'
      : `the command looked at ${paths.join(', ')}`;
  throw new AppError(
    'invalid_artifact',
    [
      `There is nothing to publish: ${looked}${shown.length > 0 ? ' and skipped' : ' and found no file. Give the directory with the output of the build, or its files.'}`,
      ...shown,
      ...(more > 0 ? [`  … and ${more} more`] : []),
    ].join('\n'),
  );
}
