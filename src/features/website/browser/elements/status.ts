import { ask, Refused } from '../../../../web/browser/ask.ts';
import { define, make, ServiceElement, setText } from '../../../../web/browser/shared/element.ts';
import { plain } from '../../../../web/browser/shared/plain.ts';

/** `<slipway-status>`: says in words and in a color whether the service works, and links to its status page. */

interface StatusAnswer {
  readonly status: { readonly indicator: string; readonly description: string };
  readonly components: readonly { readonly name: string; readonly status: string }[];
}

const EVERY_MS = 60_000;

/** Each color has a contrast of 3:1 to white and to black. */
const CSS = `
:host { display: inline-block; max-width: 100%; min-height: var(--slipway-min-height, 1lh) }
[part=link] { display: inline-flex; gap: .4em; text-decoration: none }
[part=link]:hover [part=text] { text-decoration: underline }
[part~=dot] { flex: none; align-self: start; height: 1lh; display: grid; place-items: center }
[part~=dot]::before {
  content: ""; width: .65em; height: .65em; border-radius: 50%; background: var(--slipway-unknown, #6b7280);
}
[part~=none]::before { background: var(--slipway-good, #15803d) }
[part~=minor]::before { background: var(--slipway-minor, #b45309) }
:is([part~=major], [part~=critical])::before { background: var(--slipway-major, #dc2626) }
@media (forced-colors: active) { [part~=dot]::before { forced-color-adjust: none } }
`;

class StatusElement extends ServiceElement {
  static readonly observedAttributes = ['service'];

  readonly #dot = make('span', { part: 'dot', 'aria-hidden': 'true' });
  readonly #text = make('span', { part: 'text' });
  readonly #link = make('a', { id: 'status', part: 'link' }, this.#dot, this.#text);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #checkedAt = -Infinity;

  protected start(signal: AbortSignal, service: string): void {
    this.#link.href = `${service}/status`;
    this.#show('unknown', 'Checking the service …');
    if (this.shadowRoot === null) {
      this.open(CSS, make('div', { part: 'badge', role: 'status' }, this.#link));
    }
    this.#checkedAt = -Infinity;
    const check = () => this.#check(signal);
    const checkWhenOld = () => {
      if (performance.now() - this.#checkedAt > EVERY_MS) check();
    };
    document.addEventListener('visibilitychange', checkWhenOld, { signal });
    addEventListener('online', check, { signal });
    signal.addEventListener('abort', () => clearTimeout(this.#timer));
    check();
  }

  async #check(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    // The element does not check while the page is hidden. The event visibilitychange starts the checks again.
    if (document.hidden) return;
    this.#checkedAt = performance.now();
    const pauseMs = await this.#ask(signal);
    if (signal.aborted) return;
    clearTimeout(this.#timer);
    // The pause has a random part, so that not all visitors send a request at the same time after an outage.
    const pause = pauseMs * (0.9 + 0.2 * Math.random());
    this.#timer = setTimeout(() => this.#check(signal), pause);
  }

  /** @returns the time until the next check, in milliseconds */
  async #ask(signal: AbortSignal): Promise<number> {
    try {
      const address = `${this.service}/api/v1/system/status`;
      const answer = await ask<StatusAnswer>(address, { timeoutMs: 10_000 });
      const sentence = sentenceOf(answer);
      if (!signal.aborted) this.#show(answer.status.indicator, sentence);
      return EVERY_MS;
    } catch (error) {
      const refused = error instanceof Refused ? error : undefined;
      const isBusy = refused !== undefined && refused.status > 0;
      const away = navigator.onLine ? 'The service cannot be reached.' : 'You are offline.';
      const text = isBusy ? 'The service is busy. Its status is not known.' : away;
      if (!signal.aborted) this.#show('unknown', text);
      return Math.max(EVERY_MS, (refused?.waitSeconds ?? 0) * 1000);
    }
  }

  #show(indicator: string, text: string): void {
    this.#link.dataset.indicator = indicator;
    this.#dot.setAttribute('part', `dot ${/^[a-z]+$/.test(indicator) ? indicator : 'unknown'}`);
    setText(this.#text, text);
  }
}

function sentenceOf({ status, components }: StatusAnswer): string {
  const failing = components.filter((each) => each.status !== 'operational');
  const names = plain(failing.map(({ name }) => plain(name)).join(', '));
  return [plain(status.description), names].filter(Boolean).join(' ');
}

define('slipway-status', StatusElement);
