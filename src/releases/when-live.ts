import { counted } from '../core/counted.ts';

/**
 * Says when running services answer with a change: after two polls and the time to read the change. Assumes that the
 * services have the poll interval of these settings.
 *
 * @param announced whether the hint for running services was stored
 */
export function whenLive(
  { catalogPollMs }: { readonly catalogPollMs: number },
  announced: boolean,
): string {
  const seconds = (ms: number) => counted(Math.ceil(ms / 1000), 'second');
  const all = seconds(2 * catalogPollMs + 1000);
  const each = seconds(catalogPollMs / 2);
  return announced
    ? `Running services answer with it within ${all}.`
    : `The change was made, but announcing it to running services failed. They find it when they check all applications in turn, within ${each} for each application.`;
}
