import { misuse } from '../../../builds/refusal.ts';
import { isRecord, type JsonRecord } from '../../../core/json-record.ts';
import { tryParseVersion } from '../../../domain/version.ts';
import { collectSettled } from './collect.ts';
import { listFiles } from './files.ts';
import { itemsOf, listIn, readJsonValues, sizeIn, textIn } from './json-index.ts';
import { findPlaced, isLostFeed, namesOnce } from './placed-files.ts';
import { type StatedRelease, settle } from './settle.ts';
import type { SourceContents, SourceIssue, SourceRequest, StatedFile } from './source.ts';

/**
 * The releases of GitHub's API, saved to disk (`gh api repos/OWNER/REPO/releases --paginate > releases.json`), with the
 * assets beside this file: `{tag}/{name}`, or `{name}` for names that only one release has.
 */

/** True when JSON values are releases of GitHub. `gh release view --json` writes other field names than the API. */
export function isGithubIndex(values: readonly unknown[]): boolean {
  const [first] = itemsOf(values);
  return isRecord(first) && tagOf(first) !== null && Array.isArray(first.assets);
}

/** @throws AppError `invalid_request` for a file that is not such a list */
export async function readGithub(request: SourceRequest): Promise<SourceContents> {
  const index = request.index ?? `${request.directory}/releases.json`;
  const values = await readJsonValues(index);
  if (values === undefined)
    throw misuse(index, 'it is not JSON, or nests too deep. Save the releases again');
  const items = itemsOf(values);
  const refused: SourceIssue[] = [];
  const leftOut: SourceIssue[] = [];
  const stated: StatedRelease[] = [];
  const files = await listFiles(request.directory);
  const releases = items.filter(isRecord);
  const once = namesOnce(releases.map((release) => namesIn(release)));
  for (const [at, item] of items.entries()) {
    const tag = isRecord(item) ? tagOf(item) : null;
    const label = tag || `item ${at + 1} of ${index}`;
    // A draft may have no tag yet, or a tag that is no version.
    if (isRecord(item) && (item.draft === true || item.isDraft === true)) {
      leftOut.push({ label: tag || textIn(item, 'name') || label, reason: 'it is a draft' });
      continue;
    }
    if (!isRecord(item) || tag === null) {
      refused.push({ label, reason: 'it has no tag_name' });
      continue;
    }
    const version = versionInTag(tag, request.tagPrefix);
    if ('leftOut' in version) leftOut.push({ label, reason: version.leftOut });
    else if ('refused' in version) refused.push({ label, reason: version.refused });
    else {
      const assets = listIn(item, 'assets').map((asset): StatedFile => {
        const name = textIn(asset, 'name') ?? '';
        const found = findPlaced(files, [`${tag}/${name}`], name, once);
        return {
          name,
          path: found,
          size: sizeIn(asset, 'size'),
          statedIn: index,
          digests: digestOf(asset),
        };
      });
      stated.push({
        label,
        version: version.text,
        channel: null,
        isPrerelease: item.prerelease === true || item.isPrerelease === true,
        date:
          textIn(item, 'published_at', 'publishedAt') ?? textIn(item, 'created_at', 'createdAt'),
        name: textIn(item, 'name'),
        notes: textIn(item, 'body'),
        files: assets.filter((asset) => !isLostFeed(asset, once)),
      });
    }
  }
  const settled = await Promise.all(stated.map(settle));
  return collectSettled(settled, { refused, leftOut });
}

/** The version in a tag, or the reason why the import leaves out or refuses the release. */
function versionInTag(
  tag: string,
  prefix: string,
): { readonly text: string } | { readonly leftOut: string } | { readonly refused: string } {
  if (!tag.startsWith(prefix)) return { leftOut: `its tag does not begin with ${prefix}` };
  const text = tag.slice(prefix.length);
  if (!/\d\.\d/.test(text)) {
    return { leftOut: 'its tag states no version. To have it here, publish its files by hand' };
  }
  const [, other = '', version] = /^(.*?[^v\d.])v?(\d+\.\d+\.\d+.*)$/s.exec(text) ?? [];
  if (version === undefined || tryParseVersion(version) === undefined) return { text };
  return {
    refused: `its tag has "${prefix}${other}" before the version. Add --tag-prefix ${prefix}${other}`,
  };
}

function tagOf(release: JsonRecord): string | null {
  return textIn(release, 'tag_name', 'tagName');
}

function namesIn(release: JsonRecord): readonly string[] {
  return listIn(release, 'assets').flatMap((asset) => textIn(asset, 'name') ?? []);
}

/** GitHub states `sha256:…` for assets that were uploaded since June 2025. */
function digestOf(asset: JsonRecord): StatedFile['digests'] {
  const hex = /^sha256:([0-9a-f]{64})$/i.exec(textIn(asset, 'digest') ?? '')?.[1];
  return hex === undefined ? [] : [{ algorithm: 'sha256', hex }];
}
