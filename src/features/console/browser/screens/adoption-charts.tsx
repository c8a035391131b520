import { useState } from 'preact/hooks';
import type { Adoption } from '../../answers.ts';
import { count } from '../format.ts';
import { StackedChart } from '../parts/chart.tsx';
import { type Layer, shares } from '../parts/stack.ts';

const VERSIONS = 7;

/** The most used versions; the rest as one. */
function layersOf({ versions, days }: Adoption): readonly Layer[] {
  const named = versions.slice(0, VERSIONS);
  const rest = versions.slice(VERSIONS);
  const layers = named.map(({ version, checksByDay }) => ({ name: version, values: checksByDay }));
  if (rest.length === 0) return layers;
  const sums = days.map((_, day) =>
    rest.reduce((sum, { checksByDay }) => sum + (checksByDay[day] ?? 0), 0),
  );
  const name = named.some(({ version }) => version === 'other') ? 'all others' : 'other';
  return [...layers, { name, values: sums }];
}

export function AdoptionCharts({ adoption }: { readonly adoption: Adoption }) {
  const [isShare, setShare] = useState(true);
  const layers = layersOf(adoption);
  const times = adoption.days.map((day) => Date.parse(day));
  return (
    <section class="card" aria-labelledby="versions-heading">
      <div class="card-head">
        <h2 id="versions-heading">Versions over time</h2>
        <fieldset class="segments">
          <legend class="visually-hidden">Unit</legend>
          <button type="button" aria-pressed={isShare} onClick={() => setShare(true)}>
            Shares
          </button>
          <button type="button" aria-pressed={!isShare} onClick={() => setShare(false)}>
            Checks
          </button>
        </fieldset>
      </div>
      <StackedChart
        label={`${isShare ? 'Share of update checks' : 'Update checks'} by version and day. The table below has the numbers.`}
        times={times}
        layers={isShare ? shares(layers) : layers}
        format={isShare ? (value) => `${Math.round(value * 100)} %` : count}
        height={280}
        {...(isShare && { max: 1 })}
      />
    </section>
  );
}
