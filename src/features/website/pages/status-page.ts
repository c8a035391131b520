import { html } from 'ghtml';
import { renderPage } from '../../../web/frame.ts';
import { brandOf, type Site } from '../../../web/site.ts';
import { isolated, minuteOf } from '../../../web/text.ts';

/** The status of the service and of its components, for visitors. */

export interface ShownStatus {
  readonly indicator: 'none' | 'minor' | 'major' | 'critical';
  /** A whole sentence. */
  readonly description: string;
  /** RFC 3339. All times in this file have this form. */
  readonly updatedAt: string;
  readonly components: readonly ShownComponent[];
  /** The path of the same status as JSON. */
  readonly jsonPath: string;
}

interface ShownComponent {
  readonly name: string;
  readonly status: keyof typeof STATUS_NAMES;
  /** A whole sentence. */
  readonly description: string;
  readonly updatedAt: string;
  /** Null before the first check. */
  readonly checkedAt: string | null;
}

const STATUS_NAMES = {
  operational: 'Operational',
  degraded_performance: 'Degraded',
  partial_outage: 'Partial outage',
  major_outage: 'Outage',
} as const;

export function renderStatusPage(site: Site, shown: ShownStatus): string {
  const { indicator, description, components, updatedAt, jsonPath } = shown;
  const content = html`<h1>Status</h1>
<p class="indicator ${indicator}"><span class="light" aria-hidden="true"></span>${description}</p>
<p class="quiet">As of !${minuteOf(updatedAt)}. <a href="${site.base}${jsonPath}">Read it as JSON</a></p>
<h2>Components</h2>
<ul class="components">
!${components.map(renderComponent)}</ul>`;
  return renderPage(site, {
    title: `Status of ${brandOf(site)}`,
    content,
    about: undefined,
    current: 'status',
  });
}

function renderComponent({
  name,
  status,
  description,
  updatedAt,
  checkedAt,
}: ShownComponent): string {
  return html`<li>
<h3>!${isolated(name)}</h3>
<p class="state ${status}"><span class="light" aria-hidden="true"></span>${STATUS_NAMES[status]}</p>
<p class="sentence">!${isolated(description)}</p>
<p class="quiet">!${checkedAt === null ? 'Not checked yet' : html`Since !${minuteOf(updatedAt)}`}</p>
</li>
`;
}
