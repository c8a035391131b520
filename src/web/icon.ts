import { type Color, colorText, textOn } from './brand-color.ts';

/** The icon of a browser tab when the service has no logo: an arrow in the color of the brand. */
export function renderIcon(color: Color): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colorText(color)}"/><path d="M16 7v11m-5-5 5 5 5-5M9 24h14" fill="none" stroke="${colorText(textOn(color))}" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>\n`;
}
