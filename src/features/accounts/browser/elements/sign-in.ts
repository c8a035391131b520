import { Refused } from '../../../../web/browser/ask.ts';
import {
  type Account,
  createSession,
  type Session,
  type SessionState,
} from '../../../../web/browser/session.ts';
import { define, make, ServiceElement, setText } from '../../../../web/browser/shared/element.ts';
import {
  button,
  field,
  input,
  markField,
  markFields,
  note,
  run,
} from '../../../../web/browser/shared/form.ts';
import { plain } from '../../../../web/browser/shared/plain.ts';
import { FORM } from '../../../../web/browser/shared/style.ts';

/** `<slipway-sign-in>`: signs a visitor in and out, and keeps the session for the page. */

const CSS = `${FORM}
:host { min-height: var(--slipway-min-height, 14em) }
[part=content], #signed-in { display: grid; gap: .75em; justify-items: start }
#sign-in, details { width: 100% }
.row { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25em .75em }
details form { margin-top: .75em }
`;

const sessions = new Map<string, Session>();

/**
 * All elements of a page that use one service share one session. The session stays when a script removes the elements.
 */
function sessionOf(service: string): Session {
  const session = sessions.get(service) ?? createSession({ service });
  sessions.set(service, session);
  return session;
}

class SignInElement extends ServiceElement {
  static readonly observedAttributes = ['service'];

  readonly #note = note('sign-in-note');
  readonly #who = make('strong', { id: 'who', part: 'account', tabindex: -1 });
  readonly #submit = button('Sign in');
  readonly #signIn = make(
    'form',
    { id: 'sign-in', part: 'form', hidden: true },
    field('Mail address', {
      name: 'email',
      type: 'email',
      autocomplete: 'username',
      maxlength: 254,
    }),
    field('Password', { name: 'password', type: 'password', autocomplete: 'current-password' }),
    this.#submit,
  );
  readonly #signOut = button('Sign out', { id: 'sign-out', type: 'button' });
  /** This field tells a password manager whose password changes. */
  readonly #user = make('input', { autocomplete: 'username', hidden: true, readonly: true });
  readonly #change = make(
    'form',
    { id: 'change', part: 'form' },
    this.#user,
    field('Current password', {
      name: 'password',
      type: 'password',
      autocomplete: 'current-password',
    }),
    field('New password', {
      name: 'new_password',
      type: 'password',
      autocomplete: 'new-password',
      minlength: 8,
    }),
    button('Change it'),
  );
  readonly #details = make(
    'details',
    { id: 'change-password', part: 'change-password' },
    make('summary', { part: 'summary' }, 'Change password'),
    this.#change,
  );
  readonly #signedIn = make(
    'div',
    { id: 'signed-in', part: 'signed-in', hidden: true },
    make('div', { class: 'row' }, make('p', {}, 'Signed in as ', this.#who), this.#signOut),
    this.#details,
  );
  #announced: string | undefined;

  constructor() {
    super();
    this.#signIn.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#run(this.#submit, () => this.#enter());
    });
    this.#signOut.addEventListener('click', () => {
      this.#run(this.#signOut, () => this.#leave());
    });
    this.#change.addEventListener('submit', (event) => {
      event.preventDefault();
      const pressed = this.#change.querySelector('button');
      if (pressed) this.#run(pressed, () => this.#changePassword());
    });
  }

  /**
   * The access token for the page's own requests: `authorization: Bearer …`.
   *
   * @returns undefined while the visitor is not signed in
   */
  accessToken(): Promise<string | undefined> {
    return this.#session.accessToken();
  }

  /** Undefined while the visitor is not signed in. */
  get account(): Account | undefined {
    return this.#session.account();
  }

  get #session(): Session {
    return sessionOf(this.service);
  }

  protected start(signal: AbortSignal, service: string): void {
    const session = sessionOf(service);
    if (this.shadowRoot === null) {
      this.open(CSS, this.#signIn, this.#signedIn, this.#note);
    }
    signal.addEventListener(
      'abort',
      session.onChange((state) => this.#show(state)),
    );
    this.#show(session.state());
    session.resume();
  }

  #show({ phase, account, note }: SessionState): void {
    this.#signIn.hidden = phase !== 'signed-out';
    this.#signedIn.hidden = phase !== 'signed-in';
    setText(this.#who, plain(account?.email));
    this.#user.defaultValue = account?.email ?? '';
    setText(this.#note, note || (phase === 'resuming' ? 'One moment …' : ''));
    const changed = `${this.service} ${account?.id}`;
    if (phase === 'resuming' || changed === this.#announced) return;
    this.#announced = changed;
    const event = { bubbles: true, composed: true, detail: { account } };
    this.dispatchEvent(new CustomEvent('slipway-session', event));
  }

  async #enter(): Promise<void> {
    const email = input(this.#signIn, 'email');
    const password = input(this.#signIn, 'password');
    markFields(this.#signIn, []);
    await this.#session.signIn(email.value.trim(), password.value).catch((error) => {
      this.#mark(this.#signIn, error);
    });
    this.#signIn.reset();
    this.#who.focus();
  }

  async #leave(): Promise<void> {
    await this.#session.signOut();
    input(this.#signIn, 'email').focus();
  }

  async #changePassword(): Promise<void> {
    const current = input(this.#change, 'password');
    const next = input(this.#change, 'new_password');
    markFields(this.#change, []);
    await this.#session.changePassword(current.value, next.value).catch((error) => {
      this.#mark(this.#change, error);
    });
    this.#change.reset();
    this.#details.open = false;
    this.#who.focus();
    setText(this.#note, 'Your password is changed. Your other devices are signed out.');
  }

  /** Marks the field that the service did not accept, and throws the error again. */
  #mark(form: HTMLFormElement, error: unknown): never {
    if (error instanceof Refused) {
      const name = WRONG_FIELDS.get(error.code);
      if (name === undefined) markFields(form, error.errors);
      else markField(input(form, name), this.#note);
    }
    throw error;
  }

  async #run(pressed: HTMLElement, task: () => Promise<void>): Promise<void> {
    await run(pressed, this.#note, 'One moment …', task).catch((error) => {
      if (!(error instanceof Refused)) throw error;
      const wait = error.status === 429 ? ` Wait ${error.waitSeconds} seconds.` : '';
      const still = this.account === undefined ? '' : ' You are still signed in.';
      setText(this.#note, plain(error.message) + wait + still);
    });
  }
}

/** For each error code, the field to mark. The sentence of the error is the whole answer. */
const WRONG_FIELDS = new Map([
  ['invalid_credentials', 'password'],
  ['weak_password', 'new_password'],
]);

define('slipway-sign-in', SignInElement);
