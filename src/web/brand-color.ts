/**
 * Changes the color of a brand only as much as readable text needs: WCAG 2.2, success criterion
 * 1.4.3.
 */

/** Red, green, blue: 0 to 255. */
export type Color = readonly [number, number, number];

const BLACK: Color = [0, 0, 0];
const WHITE: Color = [255, 255, 255];
/** WCAG asks for 4.5. */
const CONTRAST_MIN = 4.5;
/** The darkest background of a light page, and the lightest background of a dark page, as in pages.css. */
export const LIGHT_BACKGROUND: Color = [0xee, 0xf1, 0xf5];
export const DARK_BACKGROUND: Color = [0x21, 0x27, 0x30];
const STEPS = 20;

/** @returns undefined for text that is not `#rrggbb` */
export function parseColor(text: string): Color | undefined {
  const digits = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text)?.slice(1);
  if (digits === undefined) return undefined;
  const [red = 0, green = 0, blue = 0] = digits.map((digit) => Number.parseInt(digit, 16));
  return [red, green, blue];
}

export function colorText(color: Color): string {
  return `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** From 1 to 21: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
export function contrastOf(a: Color, b: Color): number {
  const one = luminanceOf(a);
  const other = luminanceOf(b);
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

function luminanceOf([red, green, blue]: Color): number {
  const linear = (part: number): number => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Black or white, whichever is easier to read on the color: one of them always has a contrast of at least 4.58. */
export function textOn(color: Color): Color {
  return contrastOf(color, WHITE) >= contrastOf(color, BLACK) ? WHITE : BLACK;
}

/** Returns a color for text on a background: mixes the color with black or white until the text is readable. */
export function readableOn(background: Color, color: Color): Color {
  const towards = textOn(background);
  for (let step = 0; step < STEPS; step++) {
    const mixed = mix(color, towards, step / STEPS);
    if (contrastOf(mixed, background) >= CONTRAST_MIN) return mixed;
  }
  return towards;
}

function mix([red, green, blue]: Color, [r, g, b]: Color, share: number): Color {
  const between = (from: number, to: number): number => Math.round(from + (to - from) * share);
  return [between(red, r), between(green, g), between(blue, b)];
}

/** The style sheet that gives the pages the color of a brand. */
export function renderBrandStyle(color: Color): string {
  const rules = (background: Color): string =>
    `--brand:${colorText(color)};--on-brand:${colorText(textOn(color))};--accent:${colorText(readableOn(background, color))}`;
  return `:root{${rules(LIGHT_BACKGROUND)}}\n@media (prefers-color-scheme:dark){:root{${rules(DARK_BACKGROUND)}}}\n`;
}
