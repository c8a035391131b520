import { html } from 'ghtml';
import { PLATFORMS, type Platform } from '../../../domain/platform.ts';
import type { Release } from '../../../domain/release.ts';
import type { VisitorMachine } from '../../../domain/visitor-machine.ts';
import { feedLink, renderPage } from '../../../web/frame.ts';
import { archName, PLATFORM_NAMES, WHICH_MAC } from '../../../web/label.ts';
import { renderNotes } from '../../../web/notes.ts';
import {
  type ApplicationAndChannel,
  type PageSubject,
  pagePath,
  type Site,
  titleOf,
} from '../../../web/site.ts';
import { dayOf, isolated, sizeOf } from '../../../web/text.ts';
import {
  fileAddress,
  kindOfFile,
  type ListedFile,
  platformsOf,
  renderFileTable,
} from './file-list.ts';
import { renderHashCommands } from './verify.ts';

/** The page from which a visitor downloads an application. */

export interface ShownApplication extends PageSubject {
  readonly machine: VisitorMachine;
  readonly newest: Pick<Release, 'version' | 'releasedAt' | 'notes'>;
  /** For each platform, the files to offer first; no entry for a platform without files that run on the machine. */
  readonly suggested: Readonly<Partial<Record<Platform, readonly ListedFile[]>>>;
  /** Every file, sorted by platform. */
  readonly files: readonly ListedFile[];
}

export function renderApplicationPage(site: Site, shown: ShownApplication): string {
  const { channel, newest, files } = shown;
  const title = titleOf(site, shown);
  const notes = renderNotes(newest);
  const content = html`<section class="hero">
<h1>Download !${isolated(title)}</h1>
!${channelNote(site, shown)}!${renderChoice(site, shown)}</section>
!${
    notes === ''
      ? ''
      : html`<section aria-labelledby="new"><h2 id="new">New in version !${isolated(newest.version)}</h2>
<p class="quiet">Released !${dayOf(newest.releasedAt)}</p>
!${notes}<p><a href="${pagePath(site, shown, '/releases')}">All releases</a></p></section>`
  }
<section aria-labelledby="files"><h2 id="files">All files</h2>
!${platformsOf(files).map((platform) => renderPlatform(site, shown, platform))}</section>
!${renderCheck(shown)}
!${notes === '' ? html`<p><a href="${pagePath(site, shown, '/releases')}">All releases</a></p>` : ''}`;
  return renderPage(site, {
    title: channel.isDefault ? `Download ${title}` : `Download ${title} (${channel.name})`,
    content,
    about: shown,
    current: 'download',
    head: feedLink(site, shown),
  });
}

function channelNote(site: Site, shown: ApplicationAndChannel): string {
  const { channel } = shown;
  if (channel.isDefault) return '';
  const stable = { ...shown, channel: { name: '', isDefault: true } };
  return html`<p class="channel">These are the releases of the channel <strong>${channel.name}</strong>. <a href="${pagePath(site, stable)}">Show the stable releases</a></p>
`;
}

function renderChoice(site: Site, shown: ShownApplication): string {
  const { machine, suggested } = shown;
  if (machine.kind === 'phone') {
    return html`<div class="notice"><p><strong>This is a program for computers.</strong> It does not run on phones and tablets. Open this page on a computer with ${sentenceOf(platformsOf(shown.files))}, or choose a file below.</p></div>
`;
  }
  if (machine.kind === 'unknown') return renderPlatformChoice(site, shown);
  const offered = suggested[machine.platform] ?? [];
  if (offered.length > 0) return renderButtons(site, shown, offered);
  return html`<div class="notice"><p><strong>There is no file for your computer.</strong> No release runs on ${machineName(machine)}. The files for other computers are below.</p></div>
`;
}

function machineName({ platform, arch }: Extract<VisitorMachine, { kind: 'computer' }>): string {
  const name = PLATFORM_NAMES[platform];
  return arch === null ? name : `${name}, ${archName(platform, arch)}`;
}

function sentenceOf(platforms: readonly Platform[]): string {
  const names = platforms.map((platform) => PLATFORM_NAMES[platform]);
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names);
}

/** One button; or two buttons, when the browser does not tell which of two files runs on the machine. */
function renderButtons(
  site: Site,
  shown: ShownApplication,
  offered: readonly ListedFile[],
): string {
  return html`<ul class="offers">
!${offered.map(
    (file) => html`<li>!${renderButton(site, shown, file, offered.length > 1)}</li>
`,
  )}</ul>
!${offered.length > 1 ? html`<p class="quiet">${WHICH_MAC}</p>` : ''}
<p><a href="#files">Files for other computers</a></p>
`;
}

function renderButton(
  site: Site,
  shown: ShownApplication,
  file: ListedFile,
  namesArch: boolean,
): string {
  const { artifact } = file;
  const { platform, arch } = artifact;
  const what = namesArch
    ? `Download for ${archName(platform, arch)}`
    : `Download for ${PLATFORM_NAMES[platform]}`;
  return html`<a class="button" href="${fileAddress(site, shown, file)}">${what}</a>
!${factsOf(file)}
<p class="hash"><span class="label">SHA-256</span> <code>${artifact.sha256}</code></p>`;
}

function factsOf({ artifact, release }: ListedFile): string {
  return html`<p class="facts">Version !${isolated(release.version)} · !${sizeOf(artifact.size)} · ${kindOfFile(artifact)} · Released !${dayOf(release.releasedAt)}</p>`;
}

/** A choice of all three platforms, for a browser that does not name its platform. */
function renderPlatformChoice(site: Site, shown: ShownApplication): string {
  return html`<p>Choose the system of your computer:</p>
<ul class="platforms">
!${PLATFORMS.map((platform) => {
    const offered = shown.suggested[platform] ?? [];
    return html`<li><h2>${PLATFORM_NAMES[platform]}</h2>
!${offered.length === 0 ? '<p class="quiet">There is no release for this system.</p>' : ''}!${offered.map((file) => renderSmallButton(site, shown, file, offered.length > 1))}</li>
`;
  })}</ul>
`;
}

function renderSmallButton(
  site: Site,
  shown: ShownApplication,
  file: ListedFile,
  namesArch: boolean,
): string {
  const { platform, arch } = file.artifact;
  const what = namesArch
    ? html`Download for ${archName(platform, arch)}`
    : html`Download <span class="hidden">for ${PLATFORM_NAMES[platform]}</span>`;
  return html`<p><a class="button" href="${fileAddress(site, shown, file)}">!${what}</a></p>
!${factsOf(file)}
`;
}

function renderPlatform(site: Site, shown: ShownApplication, platform: Platform): string {
  const { files, newest } = shown;
  return html`<section aria-labelledby="${platform}"><h3 id="${platform}">${PLATFORM_NAMES[platform]}</h3>
!${renderFileTable(site, { about: shown, platform, files, version: newest.version })}</section>
`;
}

/** The commands name the files that the buttons download. */
function renderCheck({ files, suggested }: ShownApplication): string {
  const examples = platformsOf(files).map((platform) => {
    const first =
      suggested[platform]?.[0] ?? files.find(({ artifact }) => artifact.platform === platform);
    return [platform, first?.artifact.filename ?? ''] as const;
  });
  return html`<section aria-labelledby="check"><h2 id="check">Check a file</h2>
<p>Compare the SHA-256 of a file on this page with what the command prints in the folder where you saved the file:</p>
!${renderHashCommands(examples)}</section>`;
}
