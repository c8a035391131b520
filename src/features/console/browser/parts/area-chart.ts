import type uPlot from 'uplot';
import { dayAndHour, shortDate } from '../format.ts';
import { type Layer, stack } from './stack.ts';

/** A stacked area chart of uPlot. uPlot is loaded when the first chart is shown. */

export interface AreaOptions {
  /** Ascending; seconds since the epoch. */
  readonly times: readonly number[];
  /** The first is at the top. */
  readonly layers: readonly (Layer & { readonly color: string })[];
  readonly height: number;
  readonly format: (value: number) => string;
  readonly max?: number;
}

export async function drawAreas(place: HTMLElement, options: AreaOptions): Promise<() => void> {
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

/** Labels with days; with hours, too, when the ticks are closer than a day. */
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
