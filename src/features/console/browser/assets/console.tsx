import { render } from 'preact';
import { createSession } from '../../../../web/browser/session.ts';
import { startApi } from '../api.ts';
import { App } from '../app.tsx';
import { startRouter } from '../router.ts';
import { SignedIn } from '../screens/sign-in.tsx';

/**
 * The name under which the browser stores the key of a console on this machine. A browser sends a cookie to every port
 * of the machine, and so also to servers of other people. It gives a stored key only to pages from this port.
 */
const STORED_KEY = 'slipway-console-key';
const KEY_HEADER = 'x-slipway-console';

const root = document.getElementById('console');
if (root !== null) {
  const { base = '', mode } = root.dataset;
  startRouter(base);
  if (mode === 'service') {
    // The base is empty, or a path such as `/slipway` behind a proxy.
    const service = location.origin + base.replace(/\/$/, '');
    const session = createSession({ service, client: 'Console' });
    startApi(base, async () => {
      const token = await session.accessToken();
      return token === undefined ? {} : { authorization: `Bearer ${token}` };
    });
    render(<SignedIn session={session} />, root);
  } else {
    const key = takeKey();
    startApi(base, async () => (key === null ? {} : { [KEY_HEADER]: key }));
    render(<App signOut={null} />, root);
  }
}

/**
 * Moves the key from the address, where the opening page put it, to the storage of the browser. Returns the stored key;
 * null when no key is stored.
 */
function takeKey(): string | null {
  const [, key] = /^#key=([0-9a-f]{64})$/.exec(location.hash) ?? [];
  if (key !== undefined) {
    localStorage.setItem(STORED_KEY, key);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return localStorage.getItem(STORED_KEY);
}
