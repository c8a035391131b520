import { FORMAT_NAMES } from '../../../../domain/format-name.ts';
import type { Format } from '../../../../domain/platform.ts';
import { ask, Refused } from '../../../../web/browser/ask.ts';
import { define, make, ServiceElement, setText } from '../../../../web/browser/shared/element.ts';
import {
  findMachine,
  type Machine,
  NAMES,
  type Platform,
} from '../../../../web/browser/shared/machine.ts';
import { plain } from '../../../../web/browser/shared/plain.ts';
import { size } from '../../../../web/browser/size.ts';

/** `<slipway-download app channel format>`: a button for the visitor's machine, and all other downloads. */

interface Download {
  readonly platform: Platform;
  readonly arch: string;
  readonly format: string;
  readonly version: string;
  /** Bytes. */
  readonly size: number;
}

/** Which file of a platform a link gives; the service chooses what is not stated. */
interface Link {
  readonly arch?: string | undefined;
  readonly format?: string | undefined;
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
ul { margin: .25em 0 0; padding-left: 1.25em }
li { padding: .125em 0 }
`;

class DownloadElement extends ServiceElement {
  static readonly observedAttributes = ['service', 'app', 'channel', 'format'];

  readonly #button = make('a', { id: 'download', class: 'button', part: 'button' });
  readonly #facts = make('span', {
    ...{ id: 'download-facts', class: 'line', part: 'facts', role: 'status' },
  });
  readonly #list = make('ul', { id: 'downloads', part: 'list', 'aria-label': 'All downloads' });
  readonly #others = make(
    'details',
    { part: 'others' },
    make('summary', { part: 'summary' }, 'All downloads'),
    this.#list,
  );

  protected start(signal: AbortSignal): void {
    findMachine().then((here) => this.#load(here, signal));
  }

  async #load(here: Machine, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    // Shown before the answers, so that the links work also without them.
    this.#showLinks(here);
    if (this.shadowRoot === null) this.open(CSS, this.#button, this.#facts, this.#others);
    try {
      const own = here.platform ? this.#latest(here) : [];
      const [all, mine] = await Promise.all([this.#latest(), own]);
      if (!signal.aborted) this.#show(all, mine, here);
    } catch (error) {
      if (!signal.aborted) this.#showFailure(error instanceof Refused ? error.code : '');
    }
  }

  /** The downloads of the latest version. With a machine, the first one is for the button. */
  async #latest(machine?: Machine): Promise<readonly Download[]> {
    try {
      const query = this.#query({ platform: machine?.platform, arch: machine?.arch });
      const address = `${this.service}/api/v1/desktop/latest-version${query}`;
      const answer = await ask<{ readonly downloads: readonly Download[] }>(address, {
        timeoutMs: 10_000,
      });
      return answer.downloads;
    } catch (error) {
      if (error instanceof Refused && error.code === 'unsupported_platform') return [];
      throw error;
    }
  }

  #showLinks({ platform, arch }: Machine): void {
    this.#button.hidden = platform === undefined;
    this.#others.hidden = false;
    setText(this.#facts, '');
    if (platform !== undefined) {
      this.#button.href = this.#address(platform, { arch });
      setText(this.#button, `Download for ${NAMES[platform]}`);
    }
    this.#list.replaceChildren(
      ...(Object.keys(NAMES) as Platform[]).map((each) => this.#item(each, {}, NAMES[each])),
    );
  }

  #show(all: readonly Download[], mine: readonly Download[], here: Machine): void {
    this.#list.replaceChildren(...all.map((each) => this.#item(each.platform, each, nameOf(each))));
    const wanted = (this.getAttribute('format') ?? '').split(/\s+/);
    const file = mine.find(({ format }) => wanted.includes(format)) ?? mine[0];
    this.#button.hidden = file === undefined;
    if (file === undefined) {
      setText(this.#facts, here.platform ? missing(here.platform) : purposeOf(all));
      return;
    }
    this.#button.href = this.#address(file.platform, file);
    setText(this.#button, `Download for ${NAMES[file.platform]}`);
    setText(this.#facts, `Version ${plain(file.version)}, ${size(file.size)}`);
  }

  #showFailure(code: string): void {
    const isEmpty = /^(no_release|unknown_application|unknown_channel)$/.test(code);
    if (isEmpty) {
      this.#button.hidden = true;
      this.#others.hidden = true;
    }
    // Short enough for one line of a phone, for which there is space.
    const text = isEmpty
      ? 'Nothing is released yet.'
      : 'The version cannot be shown at the moment.';
    setText(this.#facts, text);
  }

  #item(platform: Platform, file: Link, name: string): HTMLElement {
    const href = this.#address(platform, file);
    return make('li', { part: 'item' }, make('a', { part: 'link', href }, name));
  }

  /** The link names no version: on a page that was open for days it still gives the newest one. */
  #address(platform: Platform, file: Link): string {
    const query = this.#query({ arch: file.arch, format: file.format });
    return `${this.service}/api/v1/desktop/download/${encodeURIComponent(platform)}${query}`;
  }

  #query(values: Readonly<Record<string, string | undefined>>): string {
    const [app, channel] = [this.getAttribute('app'), this.getAttribute('channel')];
    const given = Object.entries({ ...values, app, channel }).filter(
      (entry): entry is [string, string] => Boolean(entry[1]),
    );
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  }
}

function nameOf({ platform, arch, format }: Download): string {
  const machine = ARCHES.get(arch);
  // A newer service may have formats that this element does not know.
  const kind = Object.hasOwn(FORMAT_NAMES, format) ? FORMAT_NAMES[format as Format] : format;
  return plain(`${NAMES[platform]}${machine ? ` (${machine})` : ''}, ${kind}`);
}

const missing = (platform: Platform): string =>
  `There is no download for this ${NAMES[platform]} machine yet. The others are below.`;

/** @returns `This is a program for Windows and macOS.` */
function purposeOf(all: readonly Download[]): string {
  const names = [...new Set(all.map(({ platform }) => NAMES[platform]))];
  return `This is a program for ${new Intl.ListFormat('en-GB').format(names)}.`;
}

define('slipway-download', DownloadElement);
