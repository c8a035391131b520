/** A task that never runs twice at once: a call during a run joins this run. */
export interface SharedRun {
  (): Promise<void>;
  /** The run under way; undefined when there is none. */
  underWay(): Promise<void> | undefined;
}

export function shareRun(task: () => Promise<void>): SharedRun {
  let running: Promise<void> | undefined;
  const run = (): Promise<void> => {
    running ??= task().finally(() => {
      running = undefined;
    });
    return running;
  };
  return Object.assign(run, { underWay: () => running });
}
