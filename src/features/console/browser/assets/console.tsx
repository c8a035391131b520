import { render } from 'preact';
import { startApi } from '../api.ts';
import { App } from '../app.tsx';
import { KEY_HEADER, takeKey } from '../key.ts';
import { startRouter } from '../router.ts';
import { SignedIn } from '../screens/sign-in.tsx';
import { openSession } from '../state/session.ts';

const root = document.getElementById('console');
if (root !== null) {
  const { base = '', mode } = root.dataset;
  startRouter(base);
  if (mode === 'service') {
    const session = openSession(base);
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
