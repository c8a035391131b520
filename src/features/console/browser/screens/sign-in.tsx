import { useEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../../../../web/browser/session.ts';
import { App } from '../app.tsx';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { useTask } from '../state/task.ts';

interface Props {
  readonly session: Session;
}

/**
 * The service shows its console only to accounts. While there is no session, this component shows a form to sign in.
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
  const form = useRef<HTMLFormElement>(null);
  const { isBusy, error, start } = useTask(async () => {
    const typed = new FormData(form.current ?? undefined);
    await session.signIn(String(typed.get('email')), String(typed.get('password')));
  });
  const failure = error === null ? '' : String(error instanceof Error ? error.message : error);
  useEffect(() => {
    document.title = 'Sign in · Slipway';
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    void start();
  };
  return (
    <main class="sign-in">
      <form ref={form} class="card" onSubmit={submit}>
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
        <Button kind="primary" size="large" submit busy={isBusy}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
