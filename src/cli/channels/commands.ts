import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseChannelName } from '../../domain/channel.ts';
import { parseTarget, type Target } from '../../domain/target.ts';
import {
  addApplicationOption,
  addAtOption,
  addChangeOptions,
  addConsentOption,
  addJsonOption,
  type Clearable,
  parseCount,
} from '../arguments.ts';
import { type Description, describeCommand } from '../description.ts';
import type { Runner } from '../runner.ts';

/** Commands for channels. `slipway channels` alone lists them. */

const load = () => import('./run.ts');

export function addChannelCommands(program: Command, run: Runner): void {
  program.commandsGroup('Manage applications and channels:');
  const channels = describeCommand(program.command('channels'), {
    summary: 'list, create, change and remove channels',
    does: 'Lists the channels of an application, as "channels list" does, or changes them.',
    effect: 'depends on the command. Without a command, it only reads.',
    examples: ['channels', 'channels set beta --keep 20'],
  });
  const list = describeCommand(channels.command('list', { isDefault: true }), {
    summary: 'list the channels with their settings (default)',
    does: 'Lists the channels of an application with the newest version that each offers, and with their settings.',
    effect: 'none. The command only reads.',
    examples: ['channels', 'channels list --json'],
  });
  addJsonOption(addAtOption(addApplicationOption(list))).action(
    run(async () => (await load()).listChannels),
  );
  channelChange(addSettings(channelCommand(channels, 'create', CREATE)))
    .option('--create', 'create the application too when it is new', false)
    .action(run(async () => (await load()).create));
  addConsentOption(channelChange(addSettings(channelCommand(channels, 'set', SET)))).action(
    run(async () => (await load()).set),
  );
  addConsentOption(channelChange(channelCommand(channels, 'remove', REMOVE)))
    .option('--force', 'also retire the releases that it still lists', false)
    .action(run(async () => (await load()).remove));
}

const CREATE: Description = {
  summary: 'create a channel',
  does: 'Creates a channel without releases. A name such as alpha, beta or nightly means pre-releases: its clients also get the releases of stable, unless you give --inherits.',
  effect:
    'clients may ask for the channel within seconds, and get nothing from it until you publish or promote a release to it. To create a channel and its first release in one step, use "publish --create".',
  examples: [
    'channels create beta',
    'channels create alpha --inherits beta --keep 10 --dry-run',
    'channels create stable --app tool --expect windows-x64,macos-arm64 --create',
  ],
};

const SET: Description = {
  summary: 'change the settings of a channel',
  does: 'Changes the settings of a channel. Settings that you do not give stay as they are.',
  effect:
    'the command prints what changes for clients, and asks first on a terminal. --keep drops older releases at once and with each release from then on: their downloads answer 410, and they cannot be published again. It never drops a release that some client is offered.',
  examples: [
    'channels set alpha --inherits beta',
    'channels set nightly --keep 20 --reason "save space"',
    'channels set stable --expect windows-x64,macos-arm64,linux-x64',
    'channels set stable --allow-downgrade on --dry-run',
  ],
};

const REMOVE: Description = {
  summary: 'remove a channel permanently',
  does: 'Removes a channel that lists no release and from which no other channel inherits. Its versions cannot be published again.',
  effect:
    'clients that ask for the channel get the error unknown_channel, and no updates. Move them to another channel first, with a release that asks for it.',
  examples: ['channels remove bata', 'channels remove nightly --force --dry-run'],
};

function channelCommand(channels: Command, name: string, description: Description): Command {
  return describeCommand(channels.command(name), description).argument(
    '<name>',
    'the channel',
    parseChannelName,
  );
}

function channelChange(command: Command): Command {
  const named = addApplicationOption(command).option(
    '--reason <text>',
    'the reason, for the history',
  );
  return addChangeOptions(named);
}

const NONE = 'none';

function addSettings(command: Command): Command {
  return command
    .option(
      '--inherits <channel>',
      'its clients also get the releases of this channel and of those that it inherits; "none" for none',
      (text): Clearable<string> => ({ to: text === NONE ? null : parseChannelName(text) }),
    )
    .option(
      '--keep <n>',
      'keep only the newest n offered releases; "all" keeps all',
      (text): Clearable<number> => ({ to: text === 'all' ? null : parseKeep(text) }),
    )
    .option(
      '--expect <targets>',
      'hold a release back until it has each of these targets, such as windows-x64,macos-arm64; "none" for none',
      parseTargets,
    )
    .addOption(
      onOrOff(
        '--early-access <on|off>',
        'whether a person who starts the check may get a release before its rollout reaches the installation',
      ),
    )
    .addOption(
      onOrOff(
        '--allow-downgrade <on|off>',
        'whether a client that asks for it may go back to an older version',
      ),
    );
}

function parseKeep(text: string): number {
  try {
    return parseCount(text);
  } catch {
    throw new InvalidArgumentError('It must be a whole number from 1, or "all".');
  }
}

function parseTargets(text: string): readonly Target[] {
  return text === NONE ? [] : text.split(',').map((name) => parseTarget(name.trim()));
}

function onOrOff(flags: string, description: string): Option {
  return new Option(flags, description).choices(['on', 'off']).argParser((text) => {
    if (text === 'on' || text === 'off') return text === 'on';
    throw new InvalidArgumentError('It must be on or off.');
  });
}
