import { ask, Refused, unreadable } from './ask.ts';
import { deviceId, deviceName, type SmallStorage, websiteStorage } from './device.ts';
import type { Account, Session, SessionOptions, SessionState } from './session-role.ts';
import { openTabs, type SharedSession, type Tabs } from './tabs.ts';

/** The service's answer to a sign-in or a refresh. */
interface Opened {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
  /** Absent in cookie mode. */
  readonly refresh_token?: string;
  readonly account: Account;
}

/** The page renews a token a minute early, because the token must still be valid when it reaches the service. */
const EARLY_MS = 60_000;
const RETRY_SECONDS = 5;
const PAUSE_MS_MIN = 1_000;

export class PageSession implements Session {
  readonly #service: string;
  readonly #storage: SmallStorage;
  readonly #client: string;
  /** The name of the entry in the storage that says whether there is a session. */
  readonly #flag: string;
  readonly #tabs: Tabs;
  readonly #listeners = new Set<(state: SessionState) => void>();
  #session: SharedSession | undefined;
  /** Undefined in cookie mode. */
  #refreshToken: string | undefined;
  #renewing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #told: SessionState = { phase: 'signed-out', account: undefined, note: '' };

  constructor({ service, storage = websiteStorage(), client = 'Website' }: SessionOptions) {
    this.#service = service;
    this.#storage = storage;
    this.#client = client;
    // A website may use two services, and neither service may get a token of the other service.
    this.#flag = `slipway-session ${service}`;
    this.#tabs = openTabs(this.#flag, {
      // A session in the memory of this tab belongs to this tab alone: it does not follow the other tabs.
      onShared: (next) => this.#refreshToken === undefined && this.#use(next),
      onEnd: () => this.#endElsewhere(),
      onReturn: () => this.resume(),
    });
    this.#tell('');
  }

  async signIn(email: string, password: string): Promise<void> {
    await this.#tabs.oneAtATime(async () => {
      const device = { id: deviceId(this.#storage), name: deviceName(this.#client) };
      this.#start(await this.#post('auth/login', { email, password, platform: 'web', device }));
    });
  }

  async signOut(): Promise<void> {
    await this.#tabs.oneAtATime(() =>
      this.#post('auth/logout', { scope: 'local', ...this.#proof() }),
    );
    this.#end('You are signed out.');
  }

  async changePassword(password: string, next: string): Promise<void> {
    await this.accessToken();
    await this.#post('account/password', { password, new_password: next });
  }

  async accessToken(): Promise<string | undefined> {
    if (!this.#isFresh()) await this.resume();
    return this.#session?.token;
  }

  account(): Account | undefined {
    return this.#session?.account;
  }

  state(): SessionState {
    return this.#told;
  }

  onChange(listener: (state: SessionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Gets a new access token, unless another tab has just got a token. */
  resume(): Promise<void> {
    this.#renewing ??= this.#tabs
      .oneAtATime(async () => {
        if (this.#isFresh() || !this.#isExpected()) return;
        const device = { id: deviceId(this.#storage) };
        const body = { platform: 'web', device, ...this.#proof() };
        this.#start(await this.#post('auth/refresh', body));
      })
      .catch((error) => this.#failRenewal(error))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  #failRenewal(error: unknown): void {
    if (!(error instanceof Refused)) throw error;
    const { message, isPassing, status, waitSeconds } = error;
    if (status === 401) {
      this.#end(message);
      return;
    }
    // Only a 401 ends a session: after any other error, the page keeps the session.
    if (isPassing) this.#renewIn((waitSeconds || RETRY_SECONDS) * 1000);
    this.#tell(isPassing ? `${message} You stay signed in; this page tries again.` : message);
  }

  #isFresh(): boolean {
    return this.#session !== undefined && Date.now() < this.#session.goodUntil;
  }

  #isExpected(): boolean {
    return this.#refreshToken !== undefined || this.#storage.getItem(this.#flag) !== null;
  }

  #proof(): { readonly refresh_token?: string } {
    return this.#refreshToken === undefined ? {} : { refresh_token: this.#refreshToken };
  }

  #post<Answer>(path: string, body: object): Promise<Answer> {
    const headers: Record<string, string> = { 'x-slipway-request': '1' };
    if (this.#isFresh()) headers.authorization = `Bearer ${this.#session?.token}`;
    return ask<Answer>(`${this.#service}/api/v1/${path}`, { body, headers, hasCookies: true });
  }

  #start(opened: Opened): void {
    const { access_token: token, expires_in: seconds, refresh_token, account } = opened ?? {};
    if (!token || !account || !(seconds > 0)) throw unreadable();
    const session = { token, account, goodUntil: Date.now() + seconds * 1000 - EARLY_MS };
    this.#refreshToken = refresh_token;
    const isShared = refresh_token === undefined;
    if (isShared) this.#storage.setItem(this.#flag, '1');
    this.#use(session);
    if (isShared) this.#tabs.share(session);
  }

  #use(session: SharedSession): void {
    this.#session = session;
    this.#renewIn(session.goodUntil - Date.now());
    this.#tell('');
  }

  #end(why: string): void {
    const wasShared = this.#refreshToken === undefined;
    this.#refreshToken = undefined;
    this.#storage.removeItem(this.#flag);
    this.#forget(why);
    if (wasShared) this.#tabs.shareEnd();
  }

  #endElsewhere(): void {
    // A session in the memory of this tab belongs to this tab alone. A signed-out tab keeps the reason that it already
    // shows.
    if (this.#refreshToken !== undefined || this.#told.phase === 'signed-out') return;
    this.#forget('');
    // If this tab was suspended, it may receive this message after another tab has signed in again.
    this.resume();
  }

  #forget(why: string): void {
    clearTimeout(this.#timer);
    this.#session = undefined;
    this.#tell(why);
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.resume(), Math.max(ms, PAUSE_MS_MIN));
  }

  #phaseOf(account: Account | undefined): SessionState['phase'] {
    if (account) return 'signed-in';
    return this.#isExpected() ? 'resuming' : 'signed-out';
  }

  #tell(note: string): void {
    const account = this.account();
    this.#told = { phase: this.#phaseOf(account), account, note };
    for (const listener of this.#listeners) listener(this.#told);
  }
}
