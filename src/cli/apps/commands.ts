import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { REQUIREMENTS, type Requirement } from '../../domain/signing-facts.ts';
import { addApplicationOption, addChangeOptions, addJsonOption } from '../arguments.ts';
import { describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** Commands for applications. `slipway apps` alone lists them. */

const load = () => import('./run.ts');

export function addAppCommands(program: Command, run: Runner): void {
  program.commandsGroup('Manage applications and channels:');
  const apps = describeCommand(program.command('apps'), {
    summary: 'list applications, and change their settings',
    does: 'Lists the applications of the store, as "apps list" does, or changes the settings of one.',
    effect: 'depends on the command. Without a command, it only reads.',
    examples: [
      'apps',
      'apps set --display-name "Acme Notes"',
      'apps set --tauri-pubkey updater.key.pub',
      'apps set --sparkle-pubkey SUPublicEDKey.txt',
    ],
  });
  const list = describeCommand(apps.command('list', { isDefault: true }), {
    summary: 'list the applications with their settings (default)',
    does: 'Lists the applications of the store with their channels, their newest release and their settings.',
    effect: 'none. The command only reads.',
    examples: ['apps', 'apps list --app desktop --json'],
  });
  addJsonOption(addApplicationOption(list, 'only this application (default: all)')).action(
    run(async () => (await load()).list),
  );
  const set = describeCommand(apps.command('set'), {
    summary: 'change the settings of an application',
    does: 'Changes the settings of an application. The pages of the application, its Atom feed and the console show its display name. With a public key for Tauri, every publish verifies that each .sig file is a signature of that key over the published file and its version. With one for Sparkle, it verifies each edSignature of a file, a delta or an appcast: Sparkle, WinSparkle and NetSparkle use the same signatures.',
    effect:
      'visitors see a new display name as soon as the service has read it. Nothing changes for clients, and releases that are published stay as they are. With a public key, a publish with a signature that does not verify is refused from then on. For Tauri, the command names the offered releases with signatures of another key.',
    examples: [
      'apps set --app desktop --display-name "Acme Notes"',
      'apps set --tauri-pubkey src-tauri/updater.key.pub',
      'apps set --sparkle-pubkey SUPublicEDKey.txt',
      'apps set --app desktop --tauri-pubkey none --reason "the key is lost" --dry-run',
    ],
  });
  const settings = addApplicationOption(set)
    .option(
      '--display-name <text>',
      'the name that pages and the console show, with 1 to 80 characters; "none" removes it (default: the name of the application)',
    )
    .option(
      '--tauri-pubkey <key|file>',
      'the public key of Tauri\'s updater, as in tauri.conf.json, or a file with it; "none" removes it',
    )
    .option(
      '--sparkle-pubkey <key|file>',
      'the public key of Sparkle, as SUPublicEDKey in Info.plist, or a file with it; "none" removes it',
    )
    .option(
      '--require <rules>',
      'refuse releases that clients may refuse: publisher (Windows programs are signed, by a publisher that earlier releases accept), team (macOS applications are signed by the same team), ticket (they are notarized), key (earlier releases trust the key of each Tauri and Sparkle signature); a list such as publisher,team; "none" removes all',
      parseRequirements,
    )
    .option('--reason <text>', 'the reason, which slipway history shows');
  addChangeOptions(settings).action(run(async () => (await load()).set));
}

/** @throws AppError `invalid_request` */
function parseRequirements(list: string): readonly Requirement[] {
  const names = list.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === 'none') return [];
  return names.map((name) => {
    const known = REQUIREMENTS.find((each) => each === name);
    if (known !== undefined) return known;
    throw new AppError(
      'invalid_request',
      `--require has no rule ${JSON.stringify(name)}. Rules: ${REQUIREMENTS.join(', ')}; "none" removes all.`,
    );
  });
}
