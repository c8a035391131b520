import { alignColumns, indented, printTable } from '../../cli/output.ts';
import { shown } from '../../cli/place.ts';
import { createProgress } from '../../cli/progress.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { systemClock, systemRandomness } from '../../core/system.ts';
import { openPublisher } from '../../store/open/stores.ts';
import { demoDirectory } from './demo-directory.ts';
import { type FilledStore, fillDemoStore } from './fill-demo-store.ts';

/** The seed is constant, so each run gives the same releases and counts; only the end time differs. */
const SEED = 20;

/** Fills a directory store with applications, releases and counts that a user can look at. */
export async function demoStore(terminal: Terminal): Promise<void> {
  const given = terminal.environment();
  const directory = demoDirectory(given, 'demo-store');
  // The demo never uses a bucket, because a forgotten setting must not put demo data into it.
  const env = { ...given, DATA_DIR: directory, OBJECT_STORE: 'filesystem' };
  const { loadConfig } = await terminal.facts();
  const publisher = await openPublisher({
    config: loadConfig(env, 'command'),
    clock: systemClock,
    randomness: systemRandomness,
  });
  const progress = createProgress(terminal, false);
  try {
    const filled = await fillDemoStore(
      { ...publisher, ...publisher.rememberNewest(), sleep: systemClock.sleep },
      {
        endsAt: systemClock.now(),
        seed: SEED,
        onProgress: (done, of) => progress.show('filling the store', done, of),
      },
    );
    progress.stop();
    printFilled(terminal, shown(directory), filled);
  } finally {
    progress.stop();
  }
}

function printFilled(terminal: Terminal, directory: string, filled: FilledStore): void {
  const { applications, usage, startsAt } = filled;
  const from = new Date(startsAt).toISOString().slice(0, 10);
  print(terminal, `Filled the store in ${directory} with demo data since ${from}:`);
  printTable(
    terminal,
    ['application', 'name', 'channels', 'releases', 'files', 'changes'],
    applications.map(({ name, title, channels, releases, artifacts, changes }) => [
      name,
      title,
      channels.join(', '),
      String(releases),
      String(artifacts),
      String(changes),
    ]),
  );
  const checks = usage.checks.toLocaleString('en');
  const offers = usage.offers.toLocaleString('en');
  const links = usage.links.toLocaleString('en');
  print(
    terminal,
    `Counted in ${usage.days} days: ${checks} checks, ${offers} offers and ${links} links.`,
  );
  print(terminal, '\nTo look at it:');
  const commands = [
    ['serve', 'start the service on it'],
    ['console', 'open the console of the publisher'],
    ['releases', 'list the releases of desktop; of another application with --app notes'],
    ['stats', 'show how clients adopt them'],
  ].map(([command, does = '']) => [`DATA_DIR=${directory} slipway ${command}`, does]);
  for (const line of indented(2, alignColumns(commands))) print(terminal, line);
}
