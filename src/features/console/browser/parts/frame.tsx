import type { Start } from '../../answers.ts';
import { hrefOf, navigate, type Route } from '../router.ts';
import { Icon } from './icon.tsx';

/** What is around every screen. */

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

/** Switches to another application, on the same screen when every application has it. */
function AppSwitcher({ app, start, route }: SwitcherProps) {
  const names = [...new Set([...(start?.applications ?? []), app])].filter(Boolean);
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
        <select
          class="switcher"
          aria-label="Application"
          value={app}
          onChange={(event) => go(event.currentTarget.value)}
        >
          {names.map((name) => (
            <option key={name} value={name} selected={name === app}>
              {name}
            </option>
          ))}
        </select>
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
  // The service has no doctor. Until the mode is known, the link keeps its space.
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
