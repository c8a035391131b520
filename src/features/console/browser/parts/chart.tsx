import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { dayAndHour, shortDate } from '../format.ts';
import { DARK, useMedia } from '../state/media.ts';
import { type Layer, stack } from './stack.ts';

interface Props {
  /** A description of the picture, for screen readers. */
  readonly label: string;
  /** Milliseconds since the epoch, ascending. */
  readonly times: readonly number[];
  /** The layers, from top to bottom. */
  readonly layers: readonly Layer[];
  readonly format: (value: number) => string;
  readonly height?: number;
  readonly max?: number;
}

const COLORS = 8;
/** @returns the name of a custom property in theme.css */
export const colorOf = (index: number): string => `--series-${(index % COLORS) + 1}`;

/**
 * A stacked area chart. The operator can hide each layer with its entry in the legend. A table beside the chart has the
 * numbers.
 */
export function StackedChart(props: Props) {
  const { label, times, layers, format, height = 260, max } = props;
  const place = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [isBroken, setBroken] = useState(false);
  const isDark = useMedia(DARK);
  const data = JSON.stringify([times, layers, [...hidden], isDark]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const style = getComputedStyle(document.documentElement);
    const shown = layers
      .map((layer, index) => ({ ...layer, color: style.getPropertyValue(colorOf(index)).trim() }))
      .filter(({ name }) => !hidden.has(name));
    const seconds = times.map((time) => time / 1000);
    const options = { times: seconds, layers: shown, height, format, ...(max && { max }) };
    const drawn = drawAreas(element, options);
    drawn.catch(() => setBroken(true));
    return () => void drawn.then((remove) => remove()).catch(() => undefined);
  }, [data, height]);
  const toggle = (name: string) =>
    setHidden((before) => {
      const after = new Set(before);
      if (!after.delete(name)) after.add(name);
      return after;
    });
  return (
    <figure class="chart">
      <div
        ref={place}
        class="plot"
        role="img"
        aria-label={label}
        style={{ height: `${height}px` }}
      />
      {isBroken && <p>The chart could not be loaded. The table has the same numbers.</p>}
      <Legend names={layers.map(({ name }) => name)} hidden={hidden} toggle={toggle} />
    </figure>
  );
}

interface LegendProps {
  readonly names: readonly string[];
  readonly hidden: ReadonlySet<string>;
  readonly toggle: (name: string) => void;
}

const Legend = ({ names, hidden, toggle }: LegendProps) => (
  <figcaption class="legend">
    {names.map((name, index) => (
      <button
        key={name}
        type="button"
        class="legend-entry"
        aria-pressed={!hidden.has(name)}
        onClick={() => toggle(name)}
      >
        <span class="swatch" style={{ background: `var(${colorOf(index)})` }} aria-hidden="true" />
        <bdi>{name}</bdi>
      </button>
    ))}
  </figcaption>
);

interface AreaOptions {
  /** Ascending; seconds since the epoch. */
  readonly times: readonly number[];
  /** The layers, from top to bottom. */
  readonly layers: readonly (Layer & { readonly color: string })[];
  readonly height: number;
  readonly format: (value: number) => string;
  readonly max?: number;
}

/** Draws with uPlot. The page loads uPlot when it shows the first chart. @returns a function that removes the chart */
async function drawAreas(place: HTMLElement, options: AreaOptions): Promise<() => void> {
  const { default: Plot } = await import('uplot');
  const stacked = stack(options.layers);
  const width = () => Math.max(place.clientWidth, 120);
  const plot = new Plot(
    plotOptions(options, Plot, width()),
    [[...options.times], ...stacked] as uPlot.AlignedData,
    place,
  );
  const observer = new ResizeObserver(() => {
    if (Math.abs(plot.width - width()) > 1)
      plot.setSize({ width: width(), height: options.height });
  });
  observer.observe(place);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}

const DAY_S = 86_400;

/** Labels with the day, and also the hour when two ticks are closer than a day. */
function timeLabels(splits: readonly number[]): string[] {
  const [first = 0, second = DAY_S] = splits;
  const write = second - first < DAY_S ? dayAndHour : shortDate;
  return splits.map((split) => write(split * 1000));
}

function plotOptions(options: AreaOptions, Plot: typeof uPlot, width: number): uPlot.Options {
  const { layers, height, format, max } = options;
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color('--muted'),
    font: `12px ${style.getPropertyValue('--font')}`,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  const surface = color('--surface');
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 24, 0, 0],
    scales: {
      x: { time: true },
      y: { range: (_plot, _low, high) => [0, max ?? (high === 0 ? 1 : high * 1.05)] },
    },
    axes: [
      { ...axis, space: 80, values: (_plot, splits) => timeLabels(splits) },
      { ...axis, size: 64, values: (_plot, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...layers.map(({ name, color: fill }) => ({
        label: name,
        stroke: surface,
        width: 1,
        fill,
        points: { show: false },
        ...(Plot.paths.linear && { paths: Plot.paths.linear() }),
      })),
    ],
  };
}
