import { styleSheet } from './style.ts';

/** The base of all elements: it finds the address of the service, and starts and stops an element. */

/** The script is at `{service}/elements/{name}.js`; PUBLIC_URL may have a path. */
const OWN_SERVICE = new URL('..', import.meta.url).href;

const LASTING_SLASHES = /\/+$/;

/**
 * Until an element has something to show, the content that the page put into it stays visible, because the element has
 * no shadow root until then.
 */
export abstract class ServiceElement extends HTMLElement {
  #running: AbortController | undefined;
  #isRestarting = false;

  /** The address of the service, without a slash at its end. @throws TypeError when it is not an address */
  get service(): string {
    const given = this.getAttribute('service') ?? OWN_SERVICE;
    return new URL(given, document.baseURI).href.replace(LASTING_SLASHES, '');
  }

  /**
   * Shows the element, and then the answer of the service.
   *
   * @param signal aborted when the element starts again, or is removed
   */
  protected abstract start(signal: AbortSignal, service: string): void;

  connectedCallback(): void {
    this.#stop();
    this.#running = new AbortController();
    const { signal } = this.#running;
    // Reads the address before the element shows anything: when the address is invalid, the content of the page stays
    // visible.
    this.start(signal, this.service);
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  /** Starts the element again, once for all attributes that a script changes at the same time. */
  attributeChangedCallback(_name: string, previous: string | null, next: string | null): void {
    if (previous === next || this.#running === undefined || this.#isRestarting) return;
    this.#isRestarting = true;
    queueMicrotask(() => {
      this.#isRestarting = false;
      if (this.isConnected) this.connectedCallback();
    });
  }

  #stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  /**
   * Replaces the content that the page put into the element. The sentences of the element are in English, whatever the
   * language of the page is.
   */
  protected open(css: string, ...content: readonly Node[]): void {
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [styleSheet(css)];
    root.append(make('div', { lang: 'en', dir: 'ltr', part: 'content' }, ...content));
  }
}

/** Defines an element unless the page has it already, because two scripts of one page may define the same element. */
export function define(name: string, element: CustomElementConstructor): void {
  if (customElements.get(name) === undefined) customElements.define(name, element);
}

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** @param attributes `true` makes an attribute without a value; undefined and false make no attribute */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes,
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      made.setAttribute(key, value === true ? '' : String(value));
    }
  }
  made.append(...content);
  return made;
}

/** Changes the text only when it is different, because screen readers read every change of a status aloud. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
