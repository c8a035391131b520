import { useMemo, useState } from 'preact/hooks';
import type { Start } from '../answers.ts';
import { type Outcome, type Surroundings, SurroundingsContext } from './context.ts';
import { Footer, Header, OutcomePanel } from './frame.tsx';
import { Loading, Page } from './parts/page.tsx';
import { type Address, hrefOf, type Route, useAddress } from './router.ts';
import { AdoptionScreen } from './screens/adoption.tsx';
import { DoctorScreen } from './screens/doctor.tsx';
import { ExplainScreen } from './screens/explain.tsx';
import { HistoryScreen } from './screens/history.tsx';
import { OverviewScreen } from './screens/overview.tsx';
import { ReleaseScreen } from './screens/release.tsx';
import { RolloutScreen } from './screens/rollout.tsx';
import { type Polled, usePolled } from './state/polled.ts';

interface Props {
  /** Null in the local console, which has no accounts. */
  readonly signOut: (() => void) | null;
}

export function App({ signOut }: Props) {
  const { value: start, failure, reload } = usePolled<Start>('/console/api/start', { once: true });
  const { route, query } = useAddress();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const surroundings = useMemo<Surroundings | null>(
    () => (start === null ? null : { start, tell: setOutcome }),
    [start],
  );
  const shown = routeShown(route, start);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header route={shown} start={start} signOut={signOut} />
      <main id="main" tabIndex={-1}>
        {surroundings === null ? (
          <Starting failure={failure} reload={reload} />
        ) : (
          <SurroundingsContext.Provider value={surroundings}>
            <Screen key={JSON.stringify(shown)} route={shown} query={query} />
            <OutcomePanel outcome={outcome} onClose={() => setOutcome(null)} />
          </SurroundingsContext.Provider>
        )}
      </main>
      <Footer start={start} />
    </>
  );
}

function Starting({ failure, reload }: Pick<Polled<Start>, 'failure' | 'reload'>) {
  const loading = <Loading failure={failure} reload={reload} what="console" rows={12} />;
  return failure === null ? loading : <Page title="Console">{loading}</Page>;
}

/** An address without an application shows the default application. */
function routeShown(route: Route, start: Start | null): Route {
  if (route.screen === 'home' && start !== null) {
    return { screen: 'overview', app: start.defaultApplication };
  }
  // The console of the service does not show its store.
  if (route.screen === 'doctor' && start?.mode === 'service') return { screen: 'unknown' };
  return route;
}

function Screen({ route, query }: Address) {
  switch (route.screen) {
    case 'overview':
      return <OverviewScreen app={route.app} query={query} />;
    case 'release':
      return <ReleaseScreen app={route.app} version={route.version} />;
    case 'rollout':
      return <RolloutScreen app={route.app} version={route.version} query={query} />;
    case 'adoption':
      return <AdoptionScreen app={route.app} query={query} />;
    case 'explain':
      return <ExplainScreen app={route.app} query={query} />;
    case 'history':
      return <HistoryScreen app={route.app} query={query} />;
    case 'doctor':
      return <DoctorScreen />;
    default:
      return <UnknownScreen />;
  }
}

const UnknownScreen = () => (
  <Page title="Not found">
    <div class="empty">
      <p>The console has no screen at this address.</p>
      <a class="button" href={hrefOf({ screen: 'home' })}>
        Go to the releases
      </a>
    </div>
  </Page>
);
