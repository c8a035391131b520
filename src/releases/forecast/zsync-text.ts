import type { ForeseenZsync } from './foresee-zsync.ts';

/** Says in whole sentences what a change means for AppImages that update with zsync. */
export function zsyncSentences(foreseen: readonly ForeseenZsync[]): readonly string[] {
  return foreseen.map(({ channels, before, after, mayReturn }) => {
    const on = channels.join(', ');
    if (after !== null) {
      return `AppImages that update with zsync state no version, so they install ${after} over ${before} on ${on}. To leave them on ${before}, pause or yank it instead.`;
    }
    const or = mayReturn ? `, or when ${before} is resumed` : '';
    return `AppImages that update with zsync report an error on ${on} from now on, and stay as they are: they state no version, and would install an older release over a newer one. This ends with the next release that they can be offered${or}.`;
  });
}
