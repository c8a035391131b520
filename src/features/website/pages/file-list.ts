import { html } from 'ghtml';
import { downloadPath } from '../../../domain/download-address.ts';
import { PLATFORMS, type Platform } from '../../../domain/platform.ts';
import type { Artifact, Release } from '../../../domain/release.ts';
import { archName, FORMAT_NAMES, PLATFORM_NAMES } from '../../../web/label.ts';
import type { ApplicationAndChannel, Site } from '../../../web/site.ts';
import { isolated, sizeOf } from '../../../web/text.ts';
import { signaturesOf } from './signature.ts';

/** A file, with the release that contains it. */
export interface ListedFile {
  readonly release: Pick<Release, 'version' | 'releasedAt'>;
  readonly artifact: Artifact;
}

/** The stable address of a file. */
export function fileAddress(
  { base }: Site,
  { application, channel }: ApplicationAndChannel,
  { release: { version }, artifact }: ListedFile,
): string {
  return base + downloadPath({ application, channel: channel.name, version, artifact });
}

/** The platforms that have a file, in the order of display. */
export function platformsOf(files: readonly ListedFile[]): readonly Platform[] {
  return PLATFORMS.filter((platform) => files.some((file) => file.artifact.platform === platform));
}

/** A text such as `Installer · 64-bit (x64)`. */
export function kindOfFile({ platform, arch, format }: Artifact): string {
  return `${FORMAT_NAMES[format]} · ${archName(platform, arch)}`;
}

interface FileTable {
  readonly about: ApplicationAndChannel;
  readonly platform: Platform;
  /** The files of all platforms. */
  readonly files: readonly ListedFile[];
  /** The version of the page. When the version of a file differs, the row of the file shows its own version. */
  readonly version: string;
}

/**
 * The table with the files of a platform. In a narrow window, each row becomes a card. The roles tell screen readers
 * that it is still a table.
 */
export function renderFileTable(site: Site, table: FileTable): string {
  const { about, platform, files, version } = table;
  const rows = files.filter((file) => file.artifact.platform === platform);
  return html`<table class="files" role="table" aria-label="Files for ${PLATFORM_NAMES[platform]}, version ${version}">
<thead role="rowgroup"><tr role="row">
<th role="columnheader" scope="col">File</th>
<th role="columnheader" scope="col">Size</th>
<th role="columnheader" scope="col">SHA-256</th>
</tr></thead>
<tbody role="rowgroup">
!${rows.map((file) => renderRow(site, about, file, version))}</tbody>
</table>`;
}

function renderRow(
  site: Site,
  about: ApplicationAndChannel,
  file: ListedFile,
  version: string,
): string {
  const { artifact, release } = file;
  const needs =
    artifact.platform === 'macos' && artifact.minimumOsVersion !== null
      ? html`<span class="needs">Needs macOS ${artifact.minimumOsVersion} or newer</span>`
      : '';
  const other =
    release.version === version
      ? ''
      : html`<span class="needs">Version !${isolated(release.version)}</span>`;
  return html`<tr role="row">
<th role="rowheader" scope="row"><a href="${fileAddress(site, about, file)}">${kindOfFile(artifact)}</a>
<span class="filename">!${isolated(artifact.filename)}</span>!${other}!${needs}</th>
<td role="cell" class="size"><span class="label" aria-hidden="true">Size</span> !${sizeOf(artifact.size)}</td>
<td role="cell" class="hash"><span class="label" aria-hidden="true">SHA-256</span> <code>${artifact.sha256}</code>!${signaturesOf(artifact)}</td>
</tr>
`;
}
