import { axisEnd, timeLabel, type VersionRamp } from './version-ramp.ts';

/** The versions of a fleet over time, as an SVG for light and dark pages. */

const WIDTH = 860;
const HEIGHT = 460;
const PLOT = { left: 64, top: 76, right: 836, bottom: 360 };
/** The largest width that a character of a label is assumed to have, because the reader's font is not known. */
const CHARACTER_PX = 9;
/** The most characters of the title and of the subtitle, so that both fit into the picture. */
const TITLE_MAX = 72;
const SUBTITLE_MAX = 100;

const STYLE = `
  .back { fill: #ffffff; stroke: #d0d7de; }
  text { font: 14px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328; }
  .title { font-size: 17px; font-weight: 600; }
  .subtitle { font-size: 13px; }
  .axis, .grid { stroke: #59636e; stroke-width: 1; }
  .grid { stroke-opacity: 0.25; }
  .band { stroke: #ffffff; stroke-width: 1; }
  .b0 { fill: #0550ae; } .b1 { fill: #4d9de0; } .b2 { fill: #b08800; } .b3 { fill: #d9a8a0; } .b4 { fill: #c4ccd4; }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; stroke: #30363d; }
    text { fill: #e6edf3; }
    .axis, .grid { stroke: #9198a1; }
    .band { stroke: #0d1117; }
    .b0 { fill: #79c0ff; } .b1 { fill: #1f6feb; } .b2 { fill: #d29922; } .b3 { fill: #a5645a; } .b4 { fill: #484f58; }
  }
`;

export function renderRampSvg(ramp: VersionRamp, title: string, subtitle: string): string {
  const { times, bands, startLabel } = ramp;
  const start = times[0]?.at ?? 0;
  const end = axisEnd(ramp);
  const x = (time: number): number =>
    PLOT.left + ((time - start) / (end - start)) * (PLOT.right - PLOT.left);
  const y = (share: number): number => PLOT.bottom - share * (PLOT.bottom - PLOT.top);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description">
  <title id="title">${escapeXml(`${title}, ${subtitle}`)}</title>
  <desc id="description">${escapeXml(describe(ramp))}</desc>
  <style>${STYLE}  </style>
  <rect class="back" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
  <text class="title" x="${PLOT.left}" y="32">${escapeXml(shorten(title, TITLE_MAX))}</text>
  <text class="subtitle" x="${PLOT.left}" y="54">${escapeXml(shorten(subtitle, SUBTITLE_MAX))}</text>
${bands.map((_, index) => `  <path class="band b${index}" d="${areaOf(ramp, index, end, x, y)}"/>`).join('\n')}
${[0, 0.25, 0.5, 0.75, 1].map((share) => shareLine(share, y(share))).join('\n')}
  <line class="axis" x1="${PLOT.left}" y1="${PLOT.top}" x2="${PLOT.left}" y2="${PLOT.bottom}"/>
${timeMarks(ramp, x).join('\n')}
  <text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 44}" text-anchor="middle">${startLabel === 'now' ? 'time from now' : 'time from the start'}</text>
  <text transform="translate(16 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">share of installations</text>
${legend(ramp).join('\n')}
</svg>
`;
}

function shorten(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
}

/**
 * The area of one band, between the sum of the bands before it and the sum that includes this band. The newest band is
 * at the bottom.
 */
function areaOf(
  { times, bands }: VersionRamp,
  band: number,
  end: number,
  x: (time: number) => number,
  y: (share: number) => number,
): string {
  const sum = (index: number, count: number): number =>
    bands.slice(0, count).reduce((total, { shares }) => total + (shares[index] ?? 0), 0);
  const edge = (count: number): readonly string[] =>
    times.flatMap(({ at, growsEvenly }, index) => {
      const height = y(sum(index, count));
      // A share that does not grow evenly stays the same until the next time.
      const until = growsEvenly ? at : (times[index + 1]?.at ?? end);
      return [pointOf(x(at), height), pointOf(x(until), height)];
    });
  return `M${edge(band + 1).join('L')}L${edge(band).toReversed().join('L')}Z`;
}

function pointOf(x: number, y: number): string {
  return `${round(x)} ${round(y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function shareLine(share: number, at: number): string {
  return `  <line class="grid" x1="${PLOT.left}" y1="${round(at)}" x2="${PLOT.right}" y2="${round(at)}"/>
  <text x="${PLOT.left - 8}" y="${round(at) + 5}" text-anchor="end">${share * 100}%</text>`;
}

/** Marks all times, and adds the labels that have room. */
function timeMarks(
  { times, startLabel }: VersionRamp,
  x: (time: number) => number,
): readonly string[] {
  const start = times[0]?.at ?? 0;
  let labeledUntil = Number.NEGATIVE_INFINITY;
  return times.map(({ at: time }) => {
    const at = round(x(time));
    const mark = `  <line class="axis" x1="${at}" y1="${PLOT.bottom}" x2="${at}" y2="${PLOT.bottom + 6}"/>`;
    const label = timeLabel(time - start, startLabel);
    const halfWidth = (label.length * CHARACTER_PX) / 2;
    if (at - halfWidth < labeledUntil) return mark;
    labeledUntil = at + halfWidth;
    return `${mark}\n  <text x="${at}" y="${PLOT.bottom + 22}" text-anchor="middle">${label}</text>`;
  });
}

function legend({ bands }: VersionRamp): readonly string[] {
  const width = (PLOT.right - PLOT.left) / bands.length;
  return bands.map(({ label }, index) => {
    const at = round(PLOT.left + index * width);
    return `  <rect class="b${index}" x="${at}" y="${PLOT.bottom + 66}" width="14" height="14" rx="2"/>
  <text x="${at + 20}" y="${PLOT.bottom + 78}">${escapeXml(label)}</text>`;
  });
}

/** Describes the picture in words, for readers who cannot see the picture. */
function describe({ times, bands, startLabel }: VersionRamp): string {
  const last = timeLabel((times.at(-1)?.at ?? 0) - (times[0]?.at ?? 0), startLabel);
  return bands
    .map(({ label, shares }) => {
      const first = percentText(shares[0]);
      const final = percentText(shares.at(-1));
      return times.length === 1 || first === final
        ? `${label}: ${first} of the installations.`
        : `${label}: ${first} of the installations ${startLabel}, ${final} at ${last}.`;
    })
    .join(' ');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function percentText(share = 0): string {
  return `${round(share * 100)}%`;
}
