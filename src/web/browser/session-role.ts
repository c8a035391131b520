import type { SmallStorage } from './device.ts';

/** The state of the visitor's session, and the methods that a page can call: see `session.ts`. */

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly tier: string;
}

export interface SessionState {
  /** `resuming`: the visitor was signed in before, and the service has not confirmed the session yet. */
  readonly phase: 'signed-out' | 'resuming' | 'signed-in';
  /** Undefined while the visitor is not signed in. */
  readonly account: Account | undefined;
  /** A sentence that tells the visitor why the session ended, or why the page cannot renew it now. Usually empty. */
  readonly note: string;
}

export interface Session {
  /** @throws Refused when the visitor is not signed in afterwards */
  signIn(email: string, password: string): Promise<void>;
  /** Signs out on this device. @throws Refused when the visitor is still signed in */
  signOut(): Promise<void>;
  /** Ends all other sessions of the account. @throws Refused */
  changePassword(current: string, next: string): Promise<void>;
  /**
   * The access token for `authorization: Bearer …`. When the token is about to expire, renews it first.
   *
   * @returns undefined while the visitor is not signed in
   */
  accessToken(): Promise<string | undefined>;
  /** Undefined while the visitor is not signed in. */
  account(): Account | undefined;
  state(): SessionState;
  /** Calls the listener after every change of the state. @returns a function that stops these calls */
  onChange(listener: (state: SessionState) => void): () => void;
  /** Continues the session of an earlier page, or of another tab. Call it once, when the page is ready. */
  resume(): Promise<void>;
}

export interface SessionOptions {
  /** The address of the service, without a slash at its end. */
  readonly service: string;
  /** Stores an id of the browser, and a mark while there is a session. Default: the storage of the website. */
  readonly storage?: SmallStorage;
  /** The name in the visitor's list of sessions. Default `Website`. */
  readonly client?: string;
}
