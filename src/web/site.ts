/** The parts that all pages of a service share. */
export interface Site {
  /** The path of PUBLIC_URL, without a trailing slash. */
  readonly base: string;
  /** Below `base`, without a leading slash. */
  readonly styleSheets: readonly string[];
  /** Below `base`, without a leading slash; undefined for none. */
  readonly logo: string | undefined;
  /**
   * The icon of the browser tab: the logo, or an icon in the color of the brand. Below `base`, without a leading slash.
   */
  readonly icon: string;
  /** Undefined: each page shows the name of its application. */
  readonly brandName: string | undefined;
  readonly defaultApplication: string;
}

/** The name of a service without a brand. */
const SERVICE_NAME = 'Slipway';

/** @param about undefined for a page about no application */
export function brandOf(site: Site, about?: NamedApplication): string {
  return site.brandName ?? about?.displayName ?? about?.application ?? SERVICE_NAME;
}

/**
 * The name of an application as its pages show it. Without a display name, the default application has the name of the
 * brand.
 */
export function titleOf(site: Site, about: NamedApplication): string {
  const { application, displayName } = about;
  if (displayName !== null) return displayName;
  return application === site.defaultApplication ? brandOf(site, about) : application;
}

/** The path of a page of an application. @param number the number of the page in a list, from 1 */
export function pagePath(
  { base }: Pick<Site, 'base'>,
  { application, channel }: ApplicationAndChannel,
  page: '' | '/releases' | '/releases.atom' = '',
  number = 1,
): string {
  const query = new URLSearchParams();
  if (!channel.isDefault) query.set('channel', channel.name);
  if (number > 1) query.set('page', String(number));
  const path = `${base}/apps/${encodeURIComponent(application)}${page}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

interface NamedApplication {
  readonly application: string;
  /** Null: none is set. */
  readonly displayName: string | null;
}

/** The subject of a page. */
export interface PageSubject extends ApplicationAndChannel, NamedApplication {}

export interface ApplicationAndChannel {
  readonly application: string;
  readonly channel: { readonly name: string; readonly isDefault: boolean };
}
