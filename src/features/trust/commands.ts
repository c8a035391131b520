import { type Command, InvalidArgumentError } from 'commander';
import {
  addApplicationOption,
  addConsentOption,
  addDryRunOption,
  addJsonOption,
  addKeyOption,
  addSkipOption,
  addVersionArgument,
  parseCount,
  RepeatableOption,
} from '../../cli/arguments.ts';
import { type Description, describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';
import { DEFAULT_CHANNEL } from '../../domain/channel.ts';
import type { NamedFile } from './named-files.ts';

/** Commands for the keys that an application trusts, and for signing releases. */

const load = () => import('./run-trust.ts');

const EXAMPLE_DIGEST = 'b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78';

export function addTrustCommands(program: Command, run: Runner): void {
  program.commandsGroup('Sign releases:');
  addSign(program, run);
  const trust = describeCommand(program.command('trust'), {
    summary: 'make keys, and decide which keys publish',
    does: 'Manages the root of trust of an application: the keys that change it, that operate the catalog, and that offer releases.',
    effect: 'depends on the command.',
    examples: ['trust new-key k1.key', 'trust show', 'trust check'],
  });
  describeCommand(trust.command('new-key'), {
    summary: 'make a key pair',
    does: 'Makes a key pair. It writes the private key to FILE, protected by a passphrase, and the public key beside it, to a file that ends with .pub.',
    effect: 'two new files. It overwrites no file.',
    examples: ['trust new-key k1.key', 'trust new-key ci.key --no-passphrase'],
  })
    .argument('<file>', 'the file of the private key, such as k1.key')
    .option('--no-passphrase', 'do not protect the private key; for a CI secret')
    .option('--p256', 'make an ECDSA key on P-256 instead of an Ed25519 key', false)
    .action(run(async () => (await load()).newKey));
  const init = rootChange(trust, 'init', INIT)
    .requiredOption(
      '--root <keys>',
      'the public keys of the people who may change the keys, and after ":" how many of them must sign (default: 1), such as k1.pub,k2.pub,k3.pub:2',
    )
    .option('--out <file>', 'the root file to write', 'root.json');
  addReleases(addExpiry(addKeys(init))).action(run(async () => (await load()).init));
  const show = describeCommand(trust.command('show'), {
    summary: 'show the keys and what each may do',
    does: 'Shows the newest root of trust of an application: its keys, and what each key may do.',
    effect: 'none. With --out, it writes a new file.',
    examples: ['trust show', 'trust show --app desktop --json', 'trust show --out root-2.json'],
  });
  addJsonOption(addApplicationOption(show))
    .option('--out <file>', 'also write the newest root to this file, for TRUST_ROOT')
    .action(run(async () => (await load()).show));
  const add = rootChange(trust, 'add', ADD).option(
    '--root <keys>',
    'public keys of more people who may change the keys; a number after ":" replaces the threshold',
  );
  addReleases(addKeys(add)).action(run(async () => (await load()).add));
  const remove = addReleases(rootChange(trust, 'remove', REMOVE))
    .argument('<keys...>', 'the public key files, names or ids of the keys')
    .option(
      '--threshold <count>',
      'the new threshold where the present one becomes too high',
      parseCount,
    );
  addKeys(remove).action(run(async () => (await load()).remove));
  addExpiry(rootChange(trust, 'rotate', ROTATE)).action(run(async () => (await load()).rotate));
  const renew = describeCommand(trust.command('renew'), {
    summary: 'state that the present catalog is the newest one',
    does: 'Signs a new timestamp for the newest catalog revision. A service with TRUST_KEY does this once an hour. It shows the state, and asks first on a terminal.',
    effect:
      'services that start without a saved state trust this state until the timestamp expires (TRUST_FRESH).',
    examples: ['trust renew', 'trust renew --yes --key ci.key'],
  });
  addConsentOption(addJsonOption(addDryRunOption(addKeyOption(addApplicationOption(renew)))))
    .option(
      '--revision <number>',
      'the newest catalog revision, as you know it; needed without a terminal when the last timestamp is older than a day',
      parseCount,
    )
    .action(run(async () => (await load()).renew));
  const check = describeCommand(trust.command('check'), {
    summary: 'verify all signatures, and say what expires',
    does: 'Verifies the root, the roles of all channels, the newest catalog revision and the timestamp. It names offers that too few keys signed, drafts that wait for signatures, what expires, and whether TRUST_ROOT is older than the newest root.',
    effect: 'none; it only reads. The exit code is 1 when something is wrong.',
    examples: ['trust check', 'trust check --json'],
  });
  addJsonOption(addApplicationOption(check)).action(run(async () => (await load()).check));
}

function addSign(program: Command, run: Runner): void {
  const sign = describeCommand(program.command('sign'), {
    summary: 'sign a release that waits for signatures',
    does: 'Shows a draft with the digests of its files and what changes for clients, asks, and signs it. The signature that completes the threshold of the channel also offers the release. Where it asks no person (in a script, with --yes or --json), it signs only what --manifest or --sha256 names.',
    effect:
      'one more signature; with the last one, clients of the channel are offered the release.',
    examples: [
      'sign 1.4.0 --key k1.key',
      `sign 1.4.0 --channel beta --key ci.key --manifest ${EXAMPLE_DIGEST}`,
    ],
  });
  addApplicationOption(addVersionArgument(sign))
    .option('--channel <name>', 'the channel of the draft', DEFAULT_CHANNEL)
    .option(
      '--manifest <digest>',
      'sign only the draft whose manifest has this SHA-256; --dry-run shows it',
      parseDigest,
    )
    .addOption(
      new RepeatableOption(
        '--sha256 <name=hex>',
        'sign only when the file has this SHA-256; give it for every file and signed document of the release',
        parseNamedFile,
      ),
    );
  addConsentOption(addSkipOption(addJsonOption(addDryRunOption(addKeyOption(sign))))).action(
    run(async () => (await import('./run-sign.ts')).sign),
  );
}

/** Parses a SHA-256. PowerShell prints digests in upper case. */
function parseDigest(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a whole SHA-256: 64 hex digits.');
}

function parseNamedFile(text: string): NamedFile {
  const end = text.lastIndexOf('=');
  if (end > 0) return { name: text.slice(0, end), sha256: parseDigest(text.slice(end + 1)) };
  throw new InvalidArgumentError('It must be the name of a file, "=", and its SHA-256.');
}

const INIT: Description = {
  summary: 'make the root of trust of an application',
  does: 'Makes the root of trust of an application, writes it to a file, and commits the first signed catalog revision. When the given keys reach the threshold of a channel, they also sign everything that the channel offers: the command shows these releases with the digests of their manifests, and asks.',
  effect:
    'once TRUST_ROOT names the root file, a service offers only what these keys signed, and commands need a key. Without --channel, the operators alone decide what is offered.',
  examples: [
    'trust init --root k1.pub,k2.pub,k3.pub:2 --channel stable=k1.pub,k2.pub,k3.pub:2 --channel beta=ci.pub:1 --operators ci.pub,k1.pub --key k1.key --key k2.key',
    'trust init --app tool --root k1.pub --key k1.key --dry-run',
  ],
};

const ADD: Description = {
  summary: 'add keys',
  does: 'Adds people, operators or the keys of a channel. For a channel that has keys, a threshold after ":" replaces the present one. For a channel that had no keys, it signs no release: clients were not offered any there. Where no channel had keys, the given keys sign what their channels offer: the command shows these releases, and asks.',
  effect: 'the new keys count from the next catalog revision on, which this command commits.',
  examples: [
    'trust add --operators new-ci.pub --key k1.key --key k2.key',
    'trust add --channel nightly=ci.pub:1 --key k1.key --key k2.key',
  ],
};

const REMOVE: Description = {
  summary: 'remove keys that were lost or stolen',
  does: 'Removes keys from every role, adds the keys that take their place (--channel, --operators), and believes no timestamp that they signed. It shows the releases that the other keys sign again, with the digests of their manifests, and asks. It names the releases that are not offered any more.',
  effect:
    'the keys sign nothing more. Releases that lose their signatures are not offered until others sign them; give --key for those others, too.',
  examples: [
    'trust remove k3.pub --key k1.key --key k2.key --dry-run',
    'trust remove ci.pub --channel beta=new-ci.pub --key k1.key --key k2.key --key new-ci.key',
  ],
};

const ROTATE: Description = {
  summary: 'renew the root before it expires',
  does: 'Makes the next root with the same keys and a later expiry.',
  effect: 'services follow the new root by themselves. The command says how to replace TRUST_ROOT.',
  examples: ['trust rotate --key k1.key --key k2.key'],
};

function rootChange(trust: Command, name: string, description: Description): Command {
  const command = describeCommand(trust.command(name), description);
  return addConsentOption(
    addSkipOption(addJsonOption(addDryRunOption(addKeyOption(addApplicationOption(command))))),
  );
}

/** Adds the option `--releases`, for every change after which the given keys may sign releases. */
function addReleases(command: Command): Command {
  return command.option(
    '--releases <digest>',
    'the digest of the releases that the keys sign with this change, as --dry-run printed it; a script needs it',
    parseDigest,
  );
}

function addKeys(command: Command): Command {
  return command
    .addOption(
      new RepeatableOption(
        '--channel <channel=keys>',
        'the public keys that offer releases on a channel, and after ":" how many of them must sign, such as stable=k1.pub,k2.pub:2',
        String,
      ),
    )
    .option(
      '--operators <keys>',
      'public keys that operate the catalog, such as ci.pub,k1.pub: they make drafts, pause and yank',
    );
}

function addExpiry(command: Command): Command {
  return command.option('--expires <days>', 'how many days the root is valid', parseCount, 365);
}
