import { changeStatus, type StatusVerb } from '../../../src/operations/change-status.ts';
import type { ChangeOptions } from '../arguments.ts';
import { openContext } from '../context.ts';
import { printJson, printWhenLive } from '../output.ts';
import { print, type Terminal } from '../terminal.ts';

const PARTICIPLES: Readonly<Record<StatusVerb, string>> = {
  pause: 'Paused',
  resume: 'Resumed',
  yank: 'Yanked',
  retire: 'Retired',
};

interface StatusOptions extends ChangeOptions {
  readonly app?: string;
  readonly channel?: string;
  readonly reason?: string;
}

/** What the command of this name does. */
export function changeTo(verb: StatusVerb) {
  return async (terminal: Terminal, version: string, options: StatusOptions): Promise<void> => {
    const context = await openContext(terminal);
    const application = options.app ?? context.config.defaultApplication;
    const { channel, reason = null } = options;
    const result = await changeStatus(context, verb, { application, version, channel, reason });
    const { channels, revision, changed } = result;
    if (options.json) {
      printJson(terminal, {
        app: application,
        version,
        channels,
        catalog_revision: revision,
        changed,
      });
      return;
    }
    const where = `${application} ${version} on ${channels.join(', ')} in ${context.place.text} (catalog revision ${revision})`;
    print(
      terminal,
      changed
        ? `${PARTICIPLES[verb]} ${where}.`
        : `Nothing to do: ${where} is ${PARTICIPLES[verb].toLowerCase()} already.`,
    );
    if (changed) printWhenLive(terminal, result);
  };
}
