import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import open from 'open';
import { pino } from 'pino';
import { openContext } from '../../cli/context.ts';
import { print, type Terminal } from '../../cli/terminal.ts';
import { systemRandomness } from '../../core/system.ts';
import { renderOpeningPage } from './console-page.ts';
import { openLocalConsole } from './open-console.ts';

interface ConsoleOptions {
  readonly port?: number;
  readonly open: boolean;
  readonly readOnly: boolean;
}

/** Starts the console, and resolves when it listens. It runs until the process ends. */
export async function startConsole(terminal: Terminal, options: ConsoleOptions): Promise<void> {
  const context = await openContext(terminal);
  const { config, place, actor } = context;
  // Asks for a passphrase now, and not when a browser makes the first change.
  if (!options.readOnly) await context.trust.signers();
  const diagnose = await terminal.diagnose?.();
  const running = await openLocalConsole({
    config,
    actor,
    place: place.text,
    publisher: context,
    randomness: systemRandomness,
    logger: pino({ level: 'error' }, terminal.stderr),
    isReadOnly: options.readOnly,
    diagnose: diagnose === undefined ? undefined : () => diagnose(terminal, context),
    port: options.port,
  });
  const { openingUrl } = running;
  const isOpened = options.open && (await openBrowser(openingUrl));
  const what = options.readOnly ? 'shows, and cannot change,' : 'shows and changes';
  print(terminal, `The console ${what} the releases in ${place.text}. Stop it with Ctrl-C.`);
  print(terminal, isOpened ? 'It opens in your browser. The address:' : 'Open this address:');
  print(terminal, `\n  ${openingUrl}\n`);
  print(terminal, 'The address works once, in one browser of this machine.');
}

/**
 * Opens a file that leads to the address. The address has the token, and every user of the machine can see the
 * arguments of a program, so the address must not be an argument.
 *
 * @returns false when the machine has no browser that this function can start
 */
async function openBrowser(url: string): Promise<boolean> {
  // Only the owner of this directory can read it.
  const directory = await mkdtemp(path.join(tmpdir(), 'slipway-console-'));
  const remove = () => void rm(directory, { recursive: true, force: true });
  try {
    const file = path.join(directory, 'console.html');
    await writeFile(file, renderOpeningPage(url), { mode: 0o600 });
    const child = await open(pathToFileURL(file).href);
    // Without a listener, a missing browser program would end this process.
    child.on('error', () => {});
    // By then, the browser has read the file. The token works only once, so a file that stays on the disk opens
    // nothing.
    setTimeout(remove, FILE_KEPT_MS).unref();
    return true;
  } catch {
    remove();
    return false;
  }
}

const FILE_KEPT_MS = 60_000;
