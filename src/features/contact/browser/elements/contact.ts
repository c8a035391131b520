import { ask, Refused, randomId } from '../../../../web/browser/ask.ts';
import { type CaptchaWidget, openCaptcha } from '../../../../web/browser/shared/captcha.ts';
import { define, make, ServiceElement, setText } from '../../../../web/browser/shared/element.ts';
import {
  button,
  field,
  input,
  markFields,
  note,
  run,
} from '../../../../web/browser/shared/form.ts';
import { plain } from '../../../../web/browser/shared/plain.ts';
import { FORM } from '../../../../web/browser/shared/style.ts';

/** `<slipway-contact captcha site-key>`: a form that sends a message to the team. */

const FIELDS = ['name', 'email', 'subject', 'message'] as const;
const TIMEOUT_MS = 20_000;

/** A captcha widget is 65 to 78 pixels high. */
const CSS = `${FORM}
:host { min-height: var(--slipway-min-height, 33em) }
:host([captcha]) { min-height: var(--slipway-min-height, 39em) }
[part=captcha] { min-height: 78px }
`;

class ContactElement extends ServiceElement {
  static readonly observedAttributes = ['service', 'captcha', 'site-key'];

  readonly #captchaPlace = make('div', { part: 'captcha' }, make('slot', { name: 'captcha' }));
  readonly #send = button('Send');
  readonly #note = note('contact-note');
  readonly #form = make(
    'form',
    { id: 'contact', part: 'form' },
    field('Your name', { name: 'name', autocomplete: 'name', maxlength: 100 }),
    field('Your mail address', {
      name: 'email',
      type: 'email',
      autocomplete: 'email',
      maxlength: 254,
    }),
    field('Subject', { name: 'subject', maxlength: 150 }),
    field('Message', { name: 'message', rows: 8, maxlength: 5000 }),
    // This field is a trap for spam programs: when a message has text in it, the service accepts the message and
    // discards it.
    make(
      'div',
      { hidden: true },
      make('label', {}, 'Website', make('input', { name: 'website', autocomplete: 'off' })),
    ),
    this.#captchaPlace,
    this.#send,
    this.#note,
  );
  #captcha: CaptchaWidget | undefined;
  #signal: AbortSignal | undefined;
  /**
   * The text of the last message that was sent, and its key. When the visitor sends the same text again, the key is the
   * same, and the service stores the message only once.
   */
  #lastTry = { text: '', key: '' };

  constructor() {
    super();
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      run(this.#send, this.#note, 'Sending …', () => this.#submit());
    });
  }

  protected start(signal: AbortSignal): void {
    this.#captchaPlace.hidden = !this.hasAttribute('captcha');
    if (this.shadowRoot === null) this.open(CSS, this.#form);
    this.#signal = signal;
    this.#loadCaptcha(signal);
  }

  async #loadCaptcha(signal: AbortSignal): Promise<void> {
    const provider = this.getAttribute('captcha');
    if (provider === null) return;
    const container = make('div', { slot: 'captcha' });
    this.append(container);
    signal.addEventListener('abort', () => {
      container.remove();
      this.#captcha = undefined;
    });
    try {
      const siteKey = this.getAttribute('site-key') ?? '';
      const widget = await openCaptcha(provider, siteKey, container);
      if (!signal.aborted) this.#captcha = widget;
    } catch (error) {
      container.remove();
      if (!signal.aborted) setText(this.#note, plain((error as Error).message));
    }
  }

  async #submit(): Promise<void> {
    try {
      if (this.hasAttribute('captcha') && this.#captcha === undefined) await this.#loadAgain();
      else await this.#post();
    } catch (error) {
      await this.#showFailure(error);
    }
  }

  /** Loads the captcha again after a failure during the load of the page. */
  async #loadAgain(): Promise<void> {
    if (this.#signal) await this.#loadCaptcha(this.#signal);
    if (this.#captcha) setText(this.#note, 'Solve the captcha, then send your message.');
  }

  async #post(): Promise<void> {
    const message = Object.fromEntries(
      FIELDS.map((name) => [name, input(this.#form, name).value.trim()]),
    );
    const text = JSON.stringify(message);
    if (text !== this.#lastTry.text) this.#lastTry = { text, key: randomId() };
    const website = input(this.#form, 'website').value;
    await ask(`${this.service}/api/v1/contact`, {
      headers: { 'idempotency-key': this.#lastTry.key },
      body: { ...message, website, captcha_token: this.#captcha?.token() },
      timeoutMs: TIMEOUT_MS,
    }).finally(() => this.#captcha?.reset());
    this.#form.reset();
    markFields(this.#form, []);
    this.#lastTry = { text: '', key: '' };
    setText(this.#note, 'Thank you. Your message has arrived.');
  }

  /** Shows the error, and then waits for the time that the service states. */
  async #showFailure(error: unknown): Promise<void> {
    if (!(error instanceof Refused) || error.status === 0) {
      const text = 'The service did not answer. Send the message again: it is stored only once.';
      setText(this.#note, text);
      return;
    }
    const { code, message, errors, waitSeconds } = error;
    if (code === 'idempotency_key_reused') this.#lastTry = { text: '', key: '' };
    markFields(this.#form, errors);
    const wait = waitSeconds ? ` You can send it again in ${waitSeconds} seconds.` : '';
    // The service's message names the fields as the API does. So when fields are marked, the element shows its own
    // text.
    const text =
      errors.length > 0
        ? 'Correct the marked fields, then send the message again.'
        : plain(message);
    setText(this.#note, text + wait);
    if (!waitSeconds) return;
    await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1000));
    setText(this.#note, 'Your message is not sent yet. You can send it again now.');
  }
}

define('slipway-contact', ContactElement);
