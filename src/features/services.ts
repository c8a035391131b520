import { openPublishedMetadata } from '../catalog/live/published-metadata.ts';
import type { Config } from '../config.ts';
import { anonymous } from '../server/access/anonymous.ts';
import { browserFileRoutes } from '../server/browser-file-routes.ts';
import { documentationRoutes } from '../server/documentation/routes.ts';
import { feedRoutes } from '../server/feeds/routes.ts';
import { healthRoutes } from '../server/health.ts';
import { openMonitoring } from '../server/monitoring/service.ts';
import type { Part, PartDeps } from '../server/part.ts';
import { publicRoutes } from '../server/public-routes.ts';
import { tufRoutes } from '../server/tuf/routes.ts';
import { ANALYTICS_TAGS, analyticsRoutes } from '../server/usage/analytics.ts';
import type { PasswordCost } from './accounts/passwords/password-hasher.ts';
import { openAccounts } from './accounts/service.ts';
import { openServiceConsole } from './console/service.ts';
import { openContact } from './contact/service.ts';
import { openDoctor } from './doctor/service.ts';
import { openExplain } from './explain/service.ts';
import { openWebsite } from './website/service.ts';

interface AllPartsDeps extends PartDeps {
  readonly config: Config;
  readonly passwordCost: PasswordCost | undefined;
}

/**
 * Opens every part, in the order of the OpenAPI documents and of the status page.
 *
 * @param open the parts that are open already, because other parts use what they provide
 */
export async function openParts(
  deps: AllPartsDeps,
  open: Readonly<Record<'desktop' | 'usage' | 'captcha', Part>>,
) {
  const { clock, releaseStore, trust } = deps;
  const stopping = new AbortController();
  const metadataOf = openPublishedMetadata(
    { store: releaseStore, clock, stopping: stopping.signal },
    trust,
  );
  const { legacy } = deps.config;
  const accounts = await openAccounts(deps);
  const parts: readonly Part[] = [
    { routes: documentationRoutes },
    { routes: browserFileRoutes },
    await openWebsite(deps),
    open.desktop,
    { routes: (shared) => feedRoutes({ ...shared, legacy }) },
    {
      routes: (shared) => tufRoutes({ ...shared, metadataOf }),
      background: [{ start: () => undefined, stop: async () => stopping.abort() }],
    },
    open.usage,
    openContact(deps),
    { routes: publicRoutes },
    accounts,
    { routes: analyticsRoutes, tags: ANALYTICS_TAGS },
    openExplain(deps),
    accounts.billing,
    openServiceConsole(deps),
    open.captcha,
    { routes: healthRoutes },
    openDoctor(),
    openMonitoring(deps),
  ];
  return { parts, access: accounts.access ?? anonymous, identity: accounts.identity };
}
