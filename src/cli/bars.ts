import type { Environment } from './facts.ts';
import type { Terminal } from './terminal.ts';

/** Bars of block characters, or of ASCII characters for a terminal without block characters. */

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** @param share from 0 to 1 @returns at most `width` characters; at least one for a share above 0 */
export type DrawBar = (share: number, width: number) => string;

export function barsFor({ environment }: Terminal): DrawBar {
  return showsBlocks(environment()) ? drawBlocks : drawAscii;
}

/** A dumb terminal, and a locale that names another encoding than UTF-8, have no block characters. */
export function showsBlocks({ TERM, LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '');
  return TERM !== 'dumb' && (locale === undefined || /utf-?8/i.test(locale));
}

const drawBlocks: DrawBar = (share, width) => {
  const eighths = partsOf(share, width * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
};

const drawAscii: DrawBar = (share, width) => '#'.repeat(partsOf(share, width));

function partsOf(share: number, parts: number): number {
  if (!(share > 0)) return 0;
  return Math.min(parts, Math.max(1, Math.round(share * parts)));
}
