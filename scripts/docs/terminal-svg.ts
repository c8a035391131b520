/** Draws a terminal as an SVG with real text, for light and dark pages. */

export interface Line {
  readonly kind: 'command' | 'output' | 'comment';
  readonly text: string;
}

const FONT_PX = 14;
const CHARACTER_PX = 8.4;
const LINE_PX = 20;
const PADDING_PX = 20;
const COLUMNS_MAX = 104;
const WRAP_INDENT = '    ';

const STYLE = `
  .back { fill: #f6f8fa; stroke: #d0d7de; }
  text { font: ${FONT_PX}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; fill: #1f2328; }
  .command { font-weight: 600; fill: #0550ae; }
  .comment { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; stroke: #30363d; }
    text { fill: #e6edf3; }
    .command { fill: #79c0ff; }
    .comment { fill: #9198a1; }
  }
`;

/** @param title a description for readers who cannot see the picture */
export function renderTerminal(title: string, lines: readonly Line[]): string {
  const rows = lines.flatMap(({ kind, text }) =>
    wrap(kind === 'command' ? `$ ${text}` : text).map((row) => ({ kind, row })),
  );
  const columns = Math.max(...rows.map(({ row }) => row.length));
  const width = Math.ceil(columns * CHARACTER_PX) + 2 * PADDING_PX;
  const height = rows.length * LINE_PX + 2 * PADDING_PX;
  const texts = rows.map(({ kind, row }, index) => {
    const y = PADDING_PX + index * LINE_PX + FONT_PX;
    // States the width of the text, because the reader's font may be wider than the space in the picture.
    const length = Math.round(row.length * CHARACTER_PX);
    const fit = row === '' ? '' : ` textLength="${length}" lengthAdjust="spacingAndGlyphs"`;
    return `  <text class="${kind}" x="${PADDING_PX}" y="${y}"${fit}>${escapeXml(row)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
  <title id="title">${escapeXml(title)}</title>
  <style>${STYLE}  </style>
  <rect class="back" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join('\n')}
</svg>
`;
}

function wrap(text: string): string[] {
  if (text.length <= COLUMNS_MAX) return [text];
  const space = text.lastIndexOf(' ', COLUMNS_MAX);
  const at = space > WRAP_INDENT.length ? space : COLUMNS_MAX;
  return [text.slice(0, at), ...wrap(`${WRAP_INDENT}${text.slice(at).trimStart()}`)];
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
