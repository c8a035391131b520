import path from 'node:path';
import { defineKind, defineSettings, optional } from '../../core/settings/setting.ts';
import { isDisplayName } from '../../domain/display-name.ts';

const NAME_LENGTH_MAX = 60;

const brandName = defineKind(`a name of at most ${NAME_LENGTH_MAX} characters`, (value) =>
  value.length <= NAME_LENGTH_MAX && isDisplayName(value) ? value.trim() : undefined,
);

const logoFile = defineKind('the path of a .svg or .png file of at most 256 KiB', (value) =>
  /\.(svg|png)$/i.test(value) ? path.resolve(value) : undefined,
);

const color = defineKind('a color such as #2f5bea', (value) =>
  /^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : undefined,
);

export interface BrandConfig {
  readonly name: string | undefined;
  /** The absolute path of the logo. The settings do not check the file. */
  readonly logoFile: string | undefined;
  /** `#rrggbb` */
  readonly color: string | undefined;
}

export interface BrandSettings {
  readonly brand: BrandConfig;
}

/** The settings that change the look of the public pages. */
export const brandSettings = defineSettings({
  title: 'The public pages',
  settings: {
    BRAND_NAME: optional(
      brandName,
      'The name that the public pages show: the name of your product or of its publisher',
      { otherwise: 'the name of the application', example: 'Acme Notes' },
    ),
    BRAND_LOGO: optional(
      logoFile,
      'The logo on the public pages. The service reads the file when it starts, and serves it itself',
      { otherwise: 'none', example: './logo.svg' },
    ),
    BRAND_COLOR: optional(
      color,
      'The color of buttons and links on the public pages. The service chooses black or white text for buttons, and makes links lighter or darker where they would be hard to read',
      { otherwise: 'blue', example: '#2f5bea' },
    ),
  },
  read: (env): BrandSettings => ({
    brand: Object.freeze({
      name: env.BRAND_NAME,
      logoFile: env.BRAND_LOGO,
      color: env.BRAND_COLOR,
    }),
  }),
});
