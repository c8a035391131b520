import type { Account } from './session-role.ts';

/** Lets the tabs of a website share one session, in cookie mode. */

/** The session that a tab sends to the other tabs of the website, in cookie mode. */
export interface SharedSession {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly goodUntil: number;
  readonly account: Account;
}

export interface Tabs {
  share(session: SharedSession): void;
  shareEnd(): void;
  /** Runs one task at a time across all tabs. */
  oneAtATime<Result>(task: () => Promise<Result>): Promise<Result>;
}

export interface TabEvents {
  /** Another tab signed in, or renewed the access token. */
  readonly onShared: (session: SharedSession) => void;
  /** Another tab signed out, or the service refused the session of another tab. */
  readonly onEnd: () => void;
  /** The token may have expired: the machine slept, or the visitor returns to the page. */
  readonly onReturn: () => void;
}

const OVER = 'over';
/** The time between two tasks: the next tab must first get the result of this tab. See {@link Tabs.share}. */
const HANDOVER_MS = 100;

/** @param name the name of the channel, of the lock, and of the flag in the storage of the website */
export function openTabs(name: string, events: TabEvents): Tabs {
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(name) : undefined;
  channel?.addEventListener('message', ({ data }) =>
    data === OVER ? events.onEnd() : events.onShared(data),
  );
  addEventListener('storage', ({ key, newValue }) => {
    if (key === name) (newValue === null ? events.onEnd : events.onReturn)();
  });
  for (const event of ['pageshow', 'online', 'focus']) {
    addEventListener(event, () => events.onReturn());
  }
  return {
    share: (session) => channel?.postMessage(session),
    shareEnd: () => channel?.postMessage(OVER),
    oneAtATime: (task) => (navigator.locks ? withLock(name, task) : task()),
  };
}

function withLock<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const turn = async () => {
      await task().then(resolve, reject);
      await new Promise((done) => setTimeout(done, HANDOVER_MS));
    };
    navigator.locks.request(name, turn).catch(reject);
  });
}
