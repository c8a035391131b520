import { useEffect, useState } from 'preact/hooks';

/** The addresses of the screens. An operator can share an address: it names what the screen shows, with the filters. */

export type Route =
  | { readonly screen: 'home' }
  | { readonly screen: 'overview'; readonly app: string }
  | { readonly screen: 'release'; readonly app: string; readonly version: string }
  | { readonly screen: 'rollout'; readonly app: string; readonly version: string }
  | { readonly screen: 'adoption' | 'explain' | 'history'; readonly app: string }
  | { readonly screen: 'doctor' }
  | { readonly screen: 'unknown' };

export interface Address {
  readonly route: Route;
  readonly query: URLSearchParams;
}

export type Query = Readonly<Record<string, string | null | undefined>>;

/** This text replaces the name of the application in an address without one. No application can have this name. */
const NO_APP = '-';

/** @param path below the base, such as `/console/desktop/releases/1.5.0` */
export function parsePath(path: string): Route {
  const parts = path.split('/').filter((part) => part !== '');
  const [root, app, area, version, last, ...more] = parts.map(decode);
  if (root !== 'console' || more.length > 0) return { screen: 'unknown' };
  if (app === undefined) return { screen: 'home' };
  if (app === NO_APP)
    return { screen: area === 'doctor' && version === undefined ? area : 'unknown' };
  if (area === undefined) return { screen: 'overview', app };
  if (area === 'releases' && version !== undefined) {
    if (last === undefined) return { screen: 'release', app, version };
    if (last === 'rollout') return { screen: 'rollout', app, version };
  }
  if (version !== undefined) return { screen: 'unknown' };
  if (area === 'adoption' || area === 'explain' || area === 'history') return { screen: area, app };
  return { screen: 'unknown' };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @returns the path below the base */
export function pathOf(route: Route): string {
  const parts = ['console', ...partsOf(route)];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

function partsOf(route: Route): readonly string[] {
  if (route.screen === 'home' || route.screen === 'unknown') return [];
  if (route.screen === 'doctor') return [NO_APP, 'doctor'];
  if (route.screen === 'overview') return [route.app];
  if (route.screen === 'release') return [route.app, 'releases', route.version];
  if (route.screen === 'rollout') return [route.app, 'releases', route.version, 'rollout'];
  return [route.app, route.screen];
}

let base = '';
const CHANGED = 'slipway:navigated';

/** @param root the page's `data-base`: empty, or a path such as `/slipway` behind a proxy */
export function startRouter(root: string): void {
  base = root.replace(/\/$/, '');
}

export function hrefOf(route: Route, query: Query = {}): string {
  return base + pathOf(route) + searchOf(query);
}

export function searchOf(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

export function navigate(href: string): void {
  if (href !== location.pathname + location.search) history.pushState(null, '', href);
  dispatchEvent(new Event(CHANGED));
}

/** Writes filters into the address of this screen, without a new entry in the browser's history. */
export function replaceQuery(query: Query): void {
  history.replaceState(null, '', location.pathname + searchOf(query));
  dispatchEvent(new Event(CHANGED));
}

const read = (): Address => ({
  route: location.pathname.startsWith(`${base}/`)
    ? parsePath(location.pathname.slice(base.length))
    : { screen: 'unknown' },
  query: new URLSearchParams(location.search),
});

export function useAddress(): Address {
  const [address, setAddress] = useState(read);
  useEffect(() => {
    const follow = () => setAddress(read());
    const follows = (event: MouseEvent) => followLink(event);
    addEventListener('popstate', follow);
    addEventListener(CHANGED, follow);
    document.addEventListener('click', follows);
    return () => {
      removeEventListener('popstate', follow);
      removeEventListener(CHANGED, follow);
      document.removeEventListener('click', follows);
    };
  }, []);
  return address;
}

/** A link between screens loads no new page. The browser itself handles clicks that open a tab. */
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download')) return;
  if (link.origin !== location.origin || !link.pathname.startsWith(`${base}/console`)) return;
  if (link.hash !== '') return;
  event.preventDefault();
  navigate(link.pathname + link.search);
  scrollTo(0, 0);
}
