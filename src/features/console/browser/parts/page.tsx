import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Failure } from '../api.ts';
import { hrefOf } from '../router.ts';
import { Button } from './button.tsx';

interface PageProps {
  /** The heading, which is also the title of the tab. */
  readonly title: string;
  readonly above?: ComponentChildren;
  readonly below?: ComponentChildren;
  readonly children: ComponentChildren;
}

let shown = false;

/** A screen. Its heading gets the focus when the operator comes from another screen. */
export function Page({ title, above, below, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Slipway`;
  }, [title]);
  useEffect(() => {
    // On the first screen, the browser sets the focus itself.
    if (shown) heading.current?.focus({ preventScroll: true });
    shown = true;
  }, []);
  return (
    <>
      <header class="page-head">
        {above !== undefined && <p class="above">{above}</p>}
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{title}</bdi>
        </h1>
        {below !== undefined && <div class="below">{below}</div>}
      </header>
      {children}
    </>
  );
}

interface LoadingProps {
  /** The application of the screen; undefined for a screen without one. */
  readonly app?: string;
  readonly failure: Failure | null;
  readonly reload: () => Promise<void>;
  readonly what: string;
  readonly rows?: number;
}

/** The text before the first data: a placeholder, or the reason why the data cannot be loaded. */
export function Loading({ app, failure, reload, what, rows = 8 }: LoadingProps) {
  if (failure !== null && failure.code === 'not_entitled') return <NotEntitled failure={failure} />;
  if (failure !== null && failure.status === 404) return <NotFound failure={failure} app={app} />;
  if (failure !== null) {
    return (
      <div class="empty" role="alert">
        <h2>Could not load {what}</h2>
        <p>
          <bdi>{failure.message}</bdi>
        </p>
        <Button onClick={() => void reload()}>Try again</Button>
      </div>
    );
  }
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading {what}…</span>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} class="bone" />
      ))}
    </div>
  );
}

interface NotFoundProps {
  readonly failure: Failure;
  readonly app: string | undefined;
}

/** The page of an application or a release that does not exist. Its link leads to an application that does. */
const NotFound = ({ failure, app }: NotFoundProps) => {
  const isAppUnknown = app === undefined || failure.code === 'unknown_application';
  return (
    <div class="empty" role="alert">
      <h2>Not found</h2>
      <p>
        <bdi>{failure.message}</bdi>
      </p>
      <a
        class="button"
        href={hrefOf(isAppUnknown ? { screen: 'home' } : { screen: 'overview', app })}
      >
        {isAppUnknown ? (
          'Go to the releases'
        ) : (
          <span>
            Go to the releases of <bdi>{app}</bdi>
          </span>
        )}
      </a>
    </div>
  );
};

const NotEntitled = ({ failure }: { readonly failure: Failure }) => (
  <div class="empty" role="alert">
    <h2>Your account does not include the console</h2>
    <p>
      <bdi>{failure.message}</bdi>
    </p>
    <p>Ask the operator of this service for an account whose tier includes it.</p>
  </div>
);
