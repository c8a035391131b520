import { FORECAST, unreadableRemark } from '../answers/explain/state-text.ts';
import type { FoundRevision } from '../catalog/reading/find-revision.ts';
import { isoOf } from '../core/time-text.ts';
import type { RevisionReference } from '../domain/revision-reference.ts';
import { formatTime } from './output.ts';
import { print, type Terminal } from './terminal.ts';

/** The sentences and the JSON of commands with `--at` about the state that they show. */

/** The fields of the JSON output. */
export function stateJson({ revision, time, isForecast, unreadable }: FoundRevision): object {
  return {
    catalog_revision: revision.signed.revision,
    revision_at: revision.signed.at,
    at: isoOf(time),
    is_forecast: isForecast,
    ...(unreadable.length === 0 ? {} : { unreadable_revisions: unreadable }),
  };
}

/** Prints the time and the revision of the state that the output shows, unless it shows the present state. */
export function sayState(
  terminal: Terminal,
  reference: RevisionReference | undefined,
  found: FoundRevision,
): void {
  if (reference === undefined) return;
  for (const line of stateLines(found)) print(terminal, line);
}

function stateLines(found: FoundRevision): readonly string[] {
  const { signed } = found.revision;
  const state = `The state at ${formatTime(isoOf(found.time))}, from catalog revision ${signed.revision} of ${formatTime(signed.at)}.`;
  return [found.isForecast ? `${state} ${FORECAST}` : state, ...unreadableRemark(found)];
}
