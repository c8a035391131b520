import { useEffect, useRef, useState } from 'preact/hooks';
import { DARK, useMedia } from '../state/media.ts';
import { drawAreas } from './area-chart.ts';
import type { Layer } from './stack.ts';

interface Props {
  /** What the picture shows, for screen readers. */
  readonly label: string;
  /** Milliseconds since the epoch, ascending. */
  readonly times: readonly number[];
  /** The first is at the top. */
  readonly layers: readonly Layer[];
  readonly format: (value: number) => string;
  readonly height?: number;
  readonly max?: number;
}

const COLORS = 8;
/** @returns the name of a custom property in console.css */
export const colorOf = (index: number): string => `--series-${(index % COLORS) + 1}`;

/** A stacked area chart with a legend whose entries can be switched off. A table beside it has the numbers. */
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
