import { useState } from 'preact/hooks';
import type { Overview, Start } from '../answers.ts';
import { apiOf } from './api.ts';
import type { Outcome } from './context.ts';
import { Button } from './parts/button.tsx';
import { ReasonDialog, ResumeDialog } from './parts/change-dialogs.tsx';
import { optionsOf, Select, withChosen } from './parts/field.tsx';
import { Icon } from './parts/icon.tsx';
import { Sentence } from './parts/time.tsx';
import { hrefOf, navigate, type Route } from './router.ts';
import { usePolled } from './state/polled.ts';

/** The frame around every screen: header, footer, and the panel about the last change. */

interface HeaderProps {
  readonly route: Route;
  readonly start: Start | null;
  readonly signOut: (() => void) | null;
}

export function Header({ route, start, signOut }: HeaderProps) {
  const app = 'app' in route ? route.app : (start?.defaultApplication ?? '');
  return (
    <header class="top">
      <div class="top-line">
        <a class="brand" href={hrefOf({ screen: 'home' })}>
          Slipway
        </a>
        <AppSwitcher app={app} start={start} route={route} />
        <span class="spacer" />
        {start !== null && !start.mayChange && (
          <span class="badge" title="This console shows everything and changes nothing.">
            Read-only
          </span>
        )}
        {start?.store != null && (
          <span class="store" title={`The store: ${start.store}`}>
            <bdi>{start.store}</bdi>
          </span>
        )}
        {signOut !== null && (
          <button type="button" class="button quiet" onClick={signOut}>
            Sign out
          </button>
        )}
      </div>
      <Navigation app={app} route={route} start={start} />
    </header>
  );
}

interface SwitcherProps {
  readonly app: string;
  readonly start: Start | null;
  readonly route: Route;
}

/** Switches to another application. The operator stays on the same screen when every application has that screen. */
function AppSwitcher({ app, start, route }: SwitcherProps) {
  const names = withChosen(start?.applications ?? [], app);
  const go = (name: string) => {
    const { screen } = route;
    const isShared = screen === 'adoption' || screen === 'explain' || screen === 'history';
    navigate(hrefOf({ screen: isShared ? screen : 'overview', app: name }));
  };
  return (
    <>
      <span class="slash" aria-hidden="true">
        /
      </span>
      {names.length > 1 ? (
        <Select
          class="switcher"
          label="Application"
          value={app}
          options={optionsOf(names)}
          onChange={go}
        />
      ) : (
        <bdi class="only-app" title={app}>
          {app}
        </bdi>
      )}
    </>
  );
}

const SCREENS = [
  ['overview', 'Releases'],
  ['adoption', 'Adoption'],
  ['explain', 'Explain'],
  ['history', 'History'],
] as const;

interface NavigationProps {
  readonly app: string;
  readonly route: Route;
  readonly start: Start | null;
}

function Navigation({ app, route, start }: NavigationProps) {
  const here =
    route.screen === 'release' || route.screen === 'rollout' || route.screen === 'home'
      ? 'overview'
      : route.screen;
  // The service has no doctor. While the mode is not known, the link is shown, so that the other links do not move
  // later.
  const hasDoctor = start?.mode !== 'service';
  return (
    <nav class="tabs" aria-label="Screens">
      {SCREENS.map(([screen, name]) => (
        <a
          key={screen}
          href={app === '' ? hrefOf({ screen: 'home' }) : hrefOf({ screen, app })}
          aria-current={here === screen ? 'page' : undefined}
        >
          {name}
        </a>
      ))}
      {hasDoctor && (
        <a
          href={hrefOf({ screen: 'doctor' })}
          aria-current={here === 'doctor' ? 'page' : undefined}
        >
          Doctor
        </a>
      )}
    </nav>
  );
}

export const Footer = ({ start }: { readonly start: Start | null }) => (
  <footer class="bottom">
    {start !== null && (
      <>
        <span>Slipway {start.version}</span>
        <span>Times of {Intl.DateTimeFormat().resolvedOptions().timeZone}</span>
        {start.store !== null && (
          <span>
            Store <bdi>{start.store}</bdi>
          </span>
        )}
        {start.actor === null ? (
          <span>
            <Icon name="info" /> This console refuses changes
          </span>
        ) : (
          <span>
            Changes are recorded as <bdi>{start.actor}</bdi>
          </span>
        )}
      </>
    )}
  </footer>
);

interface OutcomeProps {
  readonly outcome: Outcome | null;
  readonly onClose: () => void;
}

/** Shows the result of a change, on every screen, until the operator closes it. */
export function OutcomePanel({ outcome, onClose }: OutcomeProps) {
  const [asked, setAsked] = useState<Omit<AskedProps, 'onClose'> | null>(null);
  const paused = outcome?.paused;
  return (
    <>
      <div class="outcome-place" role="status">
        {outcome !== null && (
          <section
            class={outcome.isFailure === true ? 'outcome failed' : 'outcome'}
            aria-label={outcome.isFailure === true ? 'What failed' : 'What was done'}
          >
            <Icon name={outcome.isFailure === true ? 'cross' : 'check'} />
            <div>
              <strong>
                <bdi>{outcome.title}</bdi>
              </strong>
              {outcome.sentences.map((sentence) => (
                <p key={sentence}>
                  <Sentence text={sentence} />
                </p>
              ))}
              <div class="actions">
                {paused !== undefined && (
                  <>
                    <Button onClick={() => setAsked({ ...paused, verb: 'reason' })}>
                      Add the reason…
                    </Button>
                    <Button icon="play" onClick={() => setAsked({ ...paused, verb: 'resume' })}>
                      Resume…
                    </Button>
                  </>
                )}
                <Button kind="quiet" onClick={onClose}>
                  Close
                </Button>
              </div>
            </div>
          </section>
        )}
      </div>
      {asked !== null && <AskedDialog {...asked} onClose={() => setAsked(null)} />}
    </>
  );
}

interface AskedProps {
  readonly app: string;
  readonly version: string;
  readonly verb: 'reason' | 'resume';
  readonly onClose: () => void;
}

/** The panel stays when the screen changes, so it requests the revision itself. */
function AskedDialog({ app, version, verb, onClose }: AskedProps) {
  const { value: seen, reload } = usePolled<Overview>(apiOf(app, 'overview'));
  if (seen === null) return null;
  const shown = { app, version, seen, reload, onClose };
  if (verb === 'resume') return <ResumeDialog {...shown} />;
  const release = seen.releases.find((each) => each.version === version);
  return <ReasonDialog {...shown} cells={release?.cells ?? []} />;
}
