import { render } from 'preact';
import { startApi } from './api.ts';
import { App } from './app.tsx';
import { startRouter } from './router.ts';
import { SignedIn } from './screens/sign-in.tsx';
import { openSession } from './state/session.ts';

const root = document.getElementById('console');
if (root !== null) {
  const { base = '', mode } = root.dataset;
  startRouter(base);
  if (mode === 'service') {
    const session = openSession(base);
    startApi(base, async () => (await session.accessToken()) ?? null);
    render(<SignedIn session={session} />, root);
  } else {
    startApi(base);
    render(<App signOut={null} />, root);
  }
}
