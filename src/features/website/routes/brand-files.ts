import { createHash } from 'node:crypto';
import { LASTING } from '../../../answers/answer.ts';
import type { App } from '../../../server/deps.ts';
import { sendShared, sharePage } from '../../../server/http/fast/shared-answer.ts';
import { SECURITY_HEADERS } from '../../../server/http/security-headers.ts';
import {
  type Color,
  colorText,
  parseColor,
  renderBrandStyle,
  textOn,
} from '../../../web/brand-color.ts';

/** The files that follow from the settings of the brand: an icon, a style sheet, the logo. */

export interface Brand {
  readonly name: string | undefined;
  readonly color: Color | undefined;
  readonly logo: { readonly extension: 'svg' | 'png'; readonly bytes: Uint8Array } | undefined;
}

/** The addresses of the files, below the base. Each name has a hash of the file's content. */
export interface BrandFiles {
  readonly logo: string | undefined;
  readonly icon: string;
  readonly style: string | undefined;
}

const TYPES = {
  svg: 'image/svg+xml',
  png: 'image/png',
  css: 'text/css; charset=utf-8',
} as const;
/** When a visitor opens an SVG by its own address, the SVG must not run scripts or load anything. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";
const HASH_LENGTH = 8;

/** Registers the routes of the files, and returns their addresses. */
export function registerBrandFiles(app: App, { color, logo }: Brand): BrandFiles {
  const register = (name: string, extension: keyof typeof TYPES, content: string | Uint8Array) => {
    const hash = createHash('sha256').update(content).digest('hex').slice(0, HASH_LENGTH);
    const path = `assets/${name}-${hash}.${extension}`;
    const answer = sharePage(
      {
        ...SECURITY_HEADERS,
        'content-type': TYPES[extension],
        'content-security-policy': POLICY,
        'cache-control': LASTING,
      },
      content,
    );
    app.get(`/${path}`, { schema: { hide: true } }, (request, reply) => {
      sendShared(request, reply, answer);
    });
    return path;
  };
  const logoPath = logo && register('logo', logo.extension, logo.bytes);
  return {
    logo: logoPath,
    icon: logoPath ?? register('icon', 'svg', renderIcon(color ?? DEFAULT_COLOR)),
    style: color && register('brand', 'css', renderBrandStyle(color)),
  };
}

/** The same color as in pages.css. */
const DEFAULT_COLOR: Color = parseColor('#2f5bea') ?? [0, 0, 0];

/** The icon of a browser tab when the service has no logo: an arrow in the color of the brand. */
function renderIcon(color: Color): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colorText(color)}"/><path d="M16 7v11m-5-5 5 5 5-5M9 24h14" fill="none" stroke="${colorText(textOn(color))}" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>\n`;
}
