import { useEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../../../../web/browser/session.ts';
import { App } from '../app.tsx';
import { Notice } from '../parts/banner.tsx';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';

interface Props {
  readonly session: Session;
}

/**
 * The service shows its console only to accounts: without a session, it shows a form to sign in.
 */
export function SignedIn({ session }: Props) {
  const [state, setState] = useState(() => session.state());
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const stop = session.onChange(setState);
    session.resume().finally(() => setReady(true));
    return stop;
  }, []);
  const signOut = () => void session.signOut().catch(() => undefined);
  if (state.phase === 'signed-in') return <App key={state.account?.id} signOut={signOut} />;
  if (!isReady) return <main class="sign-in" aria-busy="true" />;
  return <SignInForm session={session} note={state.note} />;
}

function SignInForm({ session, note }: Props & { readonly note: string }) {
  const [failure, setFailure] = useState('');
  const [isSending, setSending] = useState(false);
  const isBusy = useRef(false);
  useEffect(() => {
    document.title = 'Sign in · Slipway';
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy.current || !(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    isBusy.current = true;
    setSending(true);
    setFailure('');
    try {
      await session.signIn(String(form.get('email')), String(form.get('password')));
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    } finally {
      isBusy.current = false;
      setSending(false);
    }
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <h1>Sign in to Slipway</h1>
        {note !== '' && failure === '' && <Notice tone="info">{note}</Notice>}
        <Field label="Email">
          {({ id }) => <input id={id} name="email" type="email" autocomplete="username" required />}
        </Field>
        <Field label="Password">
          {({ id }) => (
            <input
              id={id}
              name="password"
              type="password"
              autocomplete="current-password"
              required
            />
          )}
        </Field>
        <div role="alert">{failure !== '' && <Notice tone="critical">{failure}</Notice>}</div>
        <Button kind="primary" size="large" submit busy={isSending}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
