import { Presets, SingleBar } from 'cli-progress';
import { formatBytes, printableText } from './output.ts';
import type { Terminal } from './terminal.ts';

/** Progress bars, on a terminal only. */
export interface Progress {
  /** Shows a step of work. A new label starts a new bar. */
  show(label: string, done: number, total: number, unit?: 'bytes' | 'count'): void;
  stop(): void;
}

/** @param quiet true to show nothing. A terminal that cannot draw bars also shows nothing */
export function createProgress(
  { stderr, environment }: Pick<Terminal, 'stderr' | 'environment'>,
  quiet: boolean,
): Progress {
  if (quiet || !stderr.isTTY || environment().TERM === 'dumb')
    return { show: () => {}, stop: () => {} };
  let bar: SingleBar | undefined;
  let current = '';
  const stop = (): void => {
    bar?.stop();
    bar = undefined;
    current = '';
  };
  return {
    show: (given, done, total, unit = 'count') => {
      const label = printableText(given);
      const format = unit === 'bytes' ? formatBytes : String;
      if (label !== current) {
        stop();
        current = label;
        bar = new SingleBar(
          {
            format: ' {bar} {percentage}%  {done} of {all}  {label}',
            stream: stderr,
            hideCursor: true,
            clearOnComplete: true,
            barsize: 24,
          },
          Presets.shades_classic,
        );
        bar.start(total, done, { label, done: format(done), all: format(total) });
      }
      bar?.update(done, { label, done: format(done), all: format(total) });
      if (done >= total) stop();
    },
    stop,
  };
}
