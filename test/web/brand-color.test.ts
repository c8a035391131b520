import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Color,
  colorText,
  contrastOf,
  DARK_BACKGROUND,
  LIGHT_BACKGROUND,
  parseColor,
  readableOn,
  renderBrandStyle,
  textOn,
} from '../../src/web/brand-color.ts';

const part = fc.integer({ min: 0, max: 255 });
const color: fc.Arbitrary<Color> = fc.tuple(part, part, part);
const LIGHT_PAGE: Color = [255, 255, 255];
const DARK_PAGE: Color = [0x12, 0x16, 0x1c];

describe('the color of a brand', () => {
  it('is read from #rrggbb alone, and written the same', () => {
    expect(parseColor('#2F5bea')).toEqual([0x2f, 0x5b, 0xea]);
    for (const text of ['2f5bea', '#2f5be', '#2f5bea ', 'red', '#gggggg', 'url(x)']) {
      expect(parseColor(text)).toBeUndefined();
    }
    fc.assert(
      fc.property(color, (each) => {
        expect(parseColor(colorText(each))).toEqual(each);
      }),
    );
  });

  it('has the contrast that WCAG computes', () => {
    expect(contrastOf([0, 0, 0], [255, 255, 255])).toBeCloseTo(21);
    expect(contrastOf([119, 119, 119], [255, 255, 255])).toBeCloseTo(4.48, 2);
  });

  it('is readable as a button and as text, whichever color it is', () => {
    fc.assert(
      fc.property(color, (each) => {
        expect(contrastOf(each, textOn(each))).toBeGreaterThanOrEqual(4.5);
        for (const [page, background] of [
          [LIGHT_PAGE, LIGHT_BACKGROUND],
          [DARK_PAGE, DARK_BACKGROUND],
        ] as const) {
          const text = readableOn(background, each);
          expect(contrastOf(text, background)).toBeGreaterThanOrEqual(4.5);
          expect(contrastOf(text, page)).toBeGreaterThanOrEqual(4.5);
        }
      }),
    );
  });

  it('stays as it is where it is readable', () => {
    expect(readableOn(LIGHT_BACKGROUND, [0x24, 0x50, 0xd8])).toEqual([0x24, 0x50, 0xd8]);
    expect(renderBrandStyle([255, 204, 0])).toMatch(
      /^:root\{--brand:#ffcc00;--on-brand:#000000;--accent:#[0-9a-f]{6}\}\n@media \(prefers-color-scheme:dark\)\{:root\{--brand:#ffcc00;--on-brand:#000000;--accent:#ffcc00\}\}\n$/,
    );
  });
});
