import {
  type SuggestionQuery,
  suggestDownloads,
} from '../../../../answers/latest-version/suggest-downloads.ts';
import type { Arch, Format, Platform } from '../../../../domain/platform.ts';
import type { ArtifactIdentity, FileIdentity } from '../../../../domain/release.ts';
import type { VisitorMachine } from '../../../../domain/visitor-machine.ts';
import { ask, Refused } from '../../../../web/browser/ask.ts';
import { define, make, ServiceElement, setText } from '../../../../web/browser/shared/element.ts';
import { findMachine } from '../../../../web/browser/shared/machine.ts';
import { plain } from '../../../../web/browser/shared/plain.ts';
import { size } from '../../../../web/browser/size.ts';
import { FORMAT_NAMES, MAC_ARCH_NAMES, PLATFORM_NAMES, WHICH_MAC } from '../../../../web/label.ts';

/** `<slipway-download app channel format>`: a button for the visitor's machine, and links to all other downloads. */

interface Artifact extends ArtifactIdentity, FileIdentity {
  readonly version: string;
  /** The size in bytes. */
  readonly size: number;
}

interface Download {
  readonly artifact: Artifact;
}

type Computer = Extract<VisitorMachine, { kind: 'computer' }>;

/** The file of a platform that a link leads to. The service chooses a value for each missing property. */
interface Link {
  readonly arch?: string | null;
  readonly format?: string;
}

const ARCHES = new Map([
  ['x64', 'Intel and AMD, 64 bit'],
  ['arm64', 'ARM, 64 bit'],
  ['ia32', '32 bit'],
  ['armv7', 'ARM, 32 bit'],
]);

const CSS = `
:host { min-height: var(--slipway-min-height, 7em) }
[part=content] { display: grid; gap: .5em; justify-items: start }
.one { display: contents }
.two { display: flex; flex-wrap: wrap; gap: .5em }
ul { margin: .25em 0 0; padding-left: 1.25em }
li { padding: .125em 0 }
`;

class DownloadElement extends ServiceElement {
  static readonly observedAttributes = ['service', 'app', 'channel', 'format'];

  readonly #button = make('a', { id: 'download', class: 'button', part: 'button' });
  /** The button for the second of two files. */
  readonly #other = make('a', { id: 'download-other', class: 'button', part: 'button' });
  readonly #buttons = make('div', {}, this.#button, this.#other);
  readonly #facts = make('span', {
    id: 'download-facts',
    class: 'line',
    part: 'facts',
    role: 'status',
  });
  readonly #list = make('ul', { id: 'downloads', part: 'list', 'aria-label': 'All downloads' });
  readonly #others = make(
    'details',
    { part: 'others' },
    make('summary', { part: 'summary' }, 'All downloads'),
    this.#list,
  );

  protected start(signal: AbortSignal): void {
    findMachine(navigator).then((here) => {
      if (!signal.aborted) this.#load(here.kind === 'computer' ? here : undefined, signal);
    });
  }

  async #load(here: Computer | undefined, signal: AbortSignal): Promise<void> {
    // The element shows the links before the answers, so that the links also work when no answer comes.
    this.#showLinks(here);
    if (this.shadowRoot === null) this.open(CSS, this.#buttons, this.#facts, this.#others);
    try {
      const all = this.#latest({});
      const own = here ? this.#suggest(here, all) : [];
      const answers = await Promise.all([all, own]);
      if (!signal.aborted) this.#show(...answers, here);
    } catch (error) {
      if (!signal.aborted) this.#showFailure(error instanceof Refused ? error.code : '');
    }
  }

  /** The files for the buttons. */
  #suggest(
    { platform, arch }: Computer,
    all: Promise<readonly Download[]>,
  ): Promise<readonly Download[]> {
    const formats = (this.getAttribute('format') ?? '').split(/\s+/);
    const query: SuggestionQuery = { platform, arch, formats };
    return suggestDownloads(query, (arch) => (arch ? this.#latest({ platform, arch }) : all));
  }

  /** The downloads of the latest version. */
  async #latest(machine: { platform?: Platform; arch?: Arch }): Promise<readonly Download[]> {
    try {
      const address = `${this.service}/api/v1/desktop/latest-version${this.#query(machine)}`;
      const answer = await ask<{ readonly downloads: readonly Artifact[] }>(address, {
        timeoutMs: 10_000,
      });
      return answer.downloads.map((artifact) => ({ artifact }));
    } catch (error) {
      if (error instanceof Refused && error.code === 'unsupported_platform') return [];
      throw error;
    }
  }

  #showLinks(here: Computer | undefined): void {
    this.#others.hidden = false;
    setText(this.#facts, '');
    this.#showButtons(here ? [[here.platform, here, PLATFORM_NAMES[here.platform]]] : []);
    this.#list.replaceChildren(
      ...(Object.keys(PLATFORM_NAMES) as Platform[]).map((each) =>
        this.#item(each, {}, PLATFORM_NAMES[each]),
      ),
    );
  }

  #show(all: readonly Download[], files: readonly Download[], here: Computer | undefined): void {
    this.#list.replaceChildren(
      ...all.map(({ artifact }) => this.#item(artifact.platform, artifact, nameOf(artifact))),
    );
    this.#showButtons(
      files.map(({ artifact }) => {
        const { platform, arch } = artifact;
        const name = files.length < 2 ? PLATFORM_NAMES[platform] : MAC_ARCH_NAMES[arch];
        return [platform, artifact, name];
      }),
    );
    const reason = here ? missing(here.platform) : purposeOf(all);
    setText(this.#facts, files.length === 0 ? reason : factsOf(files));
  }

  /** @param files for each button, the platform, the properties of the link, and the name on the button; at most two */
  #showButtons(files: readonly (readonly [Platform, Link, string | undefined])[]): void {
    this.#buttons.className = files.length < 2 ? 'one' : 'two';
    for (const [index, button] of [this.#button, this.#other].entries()) {
      const file = files[index];
      button.hidden = file === undefined;
      if (file === undefined) continue;
      const [platform, link, name] = file;
      button.href = this.#address(platform, link);
      setText(button, `Download for ${name}`);
    }
  }

  #showFailure(code: string): void {
    const isEmpty = /^(no_release|unknown_application|unknown_channel)$/.test(code);
    if (isEmpty) {
      this.#showButtons([]);
      this.#others.hidden = true;
    }
    // The text fits into one line of a phone, because the element has space for only one line.
    const text = isEmpty
      ? 'Nothing is released yet.'
      : 'The version cannot be shown at the moment.';
    setText(this.#facts, text);
  }

  #item(platform: Platform, file: Link, name: string): HTMLElement {
    const href = this.#address(platform, file);
    return make('li', { part: 'item' }, make('a', { part: 'link', href }, name));
  }

  /** The link names no version. So on a page that was open for days, it still leads to the newest version. */
  #address(platform: Platform, { arch, format }: Link): string {
    const query = this.#query({ arch, format });
    return `${this.service}/api/v1/desktop/download/${encodeURIComponent(platform)}${query}`;
  }

  #query(values: Readonly<Record<string, string | null | undefined>>): string {
    const app = this.getAttribute('app');
    const channel = this.getAttribute('channel');
    const given = Object.entries({ ...values, app, channel }).filter(
      (entry): entry is [string, string] => Boolean(entry[1]),
    );
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  }
}

function nameOf({ platform, arch, format }: Artifact): string {
  const machine = ARCHES.get(arch);
  // A newer service may have formats that this element does not know.
  const kind = Object.hasOwn(FORMAT_NAMES, format) ? FORMAT_NAMES[format as Format] : format;
  return plain(`${PLATFORM_NAMES[platform]}${machine ? ` (${machine})` : ''}, ${kind}`);
}

/** @param files one file; or two for a Mac with an unknown processor, and the text then says how to choose */
function factsOf(files: readonly Download[]): string {
  const isSure = files.length < 2;
  const facts = files.map(({ artifact: { arch, version, size: bytes } }) => {
    const fact = `Version ${plain(version)}, ${size(bytes)}`;
    return isSure ? fact : `${fact} (${MAC_ARCH_NAMES[arch]}).`;
  });
  if (!isSure) facts.push(WHICH_MAC);
  return facts.join(' ');
}

const missing = (platform: Platform): string =>
  `There is no download for this ${PLATFORM_NAMES[platform]} machine yet. The others are below.`;

/** @returns a sentence such as `This is a program for Windows and macOS.` */
function purposeOf(all: readonly Download[]): string {
  const names = [...new Set(all.map(({ artifact }) => PLATFORM_NAMES[artifact.platform]))];
  return `This is a program for ${new Intl.ListFormat('en-GB').format(names)}.`;
}

define('slipway-download', DownloadElement);
