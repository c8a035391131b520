import { hostname, userInfo } from 'node:os';
import type { ChangeKind } from '../catalog/documents/revision-document.ts';
import type { Trust } from '../catalog/trust/trust.ts';
import { AppError } from '../core/errors.ts';
import { printableText } from '../core/printable.ts';
import { systemClock, systemRandomness } from '../core/system.ts';
import type { ChannelStates } from '../releases/forecast/compare-channels.ts';
import { openTrust } from '../releases/trust/open-trust.ts';
import { openPublisher, type Publisher } from '../store/open/stores.ts';
import { askHidden } from './ask-hidden.ts';
import { askAboutVisitors, isInteractive } from './consent.ts';
import type { CommandConfig, Environment } from './facts.ts';
import { missingStore, type Place, placeOf, type Subject } from './place.ts';
import { print, type Terminal } from './terminal.ts';

/** The settings and the store, as commands use them. `Own` is the type of a feature's own settings. */
export interface Context<Own = unknown> extends Publisher {
  readonly config: CommandConfig & Own;
  readonly actor: string;
  readonly trust: Trust;
  /** Undefined for a command that changes nothing. */
  readonly beforeCommit: ((kind: ChangeKind, states: ChannelStates) => Promise<void>) | undefined;
  readonly provenance: { readonly commit: string | null; readonly buildUrl: string | null };
  /** The store that the command works on. Every output names it. */
  readonly place: Place;
}

interface OpenOptions {
  readonly subject?: Subject;
  readonly mayBeNew?: boolean;
  readonly onlyReads?: boolean;
  readonly writesTo?: string;
  readonly makesRoot?: boolean;
}

/**
 * Opens the store that the settings name.
 *
 * @param mayBeNew allows the command to create a directory store; otherwise a missing store is an error
 * @param onlyReads keeps all writes in memory, as in a dry run
 * @param writesTo the place that the command writes to, as sentences name it; default: the store
 * @param makesRoot true for the command that makes the first root of trust, which needs keys before there is a root
 * @throws AppError `invalid_configuration`, also when there is no store
 */
export async function openContext<Own = unknown>(
  terminal: Terminal,
  {
    subject = 'releases',
    mayBeNew = false,
    onlyReads = false,
    writesTo,
    makesRoot = false,
  }: OpenOptions = {},
): Promise<Context<Own>> {
  const env = terminal.environment();
  const { session } = terminal;
  const { loadConfig } = await terminal.facts();
  const given = loadConfig<Own>(env, 'command');
  const trial = session?.trial;
  const config = trial === undefined ? given : { ...given, defaultApplication: trial.application };
  const place = placeOf(config, subject);
  if (session !== undefined) {
    session.place = place;
    session.defaultApplication = config.defaultApplication;
  }
  const mayChange = subject === 'releases' && !onlyReads && session?.isDryRun === false;
  if (mayChange) session.hasWritten = false;
  const publisher =
    trial?.publisher ??
    (await openPublisher({
      config,
      clock: systemClock,
      randomness: systemRandomness,
      isDryRun: onlyReads || session?.isDryRun === true,
      onWrite: () => {
        if (mayChange) session.hasWritten = true;
      },
    }));
  if (!mayBeNew && !(await publisher.hasStore())) throw missingStore(place, config);
  sayDryRun(terminal, writesTo ?? place.text);
  const trust = await openTrust({
    store: publisher.store,
    clock: publisher.clock,
    settings: config.trust,
    keys: session?.keys,
    ask: (name) => askPassphrase(terminal, config, name),
    isRehearsal: session?.isDryRun === true || onlyReads || trial !== undefined,
  });
  if (!makesRoot) warnOfUnusedKeys(terminal, trust);
  const review: Context['beforeCommit'] = (kind, states) =>
    askAboutVisitors(terminal, kind, states, publisher.clock.now());
  return {
    ...publisher,
    // A command without the option `--dry-run` makes no change, or asks in another way: the console asks in the
    // browser.
    beforeCommit: session?.isDryRun === undefined ? undefined : review,
    trust,
    rehearse: () => ({
      ...publisher.rehearse(),
      beforeCommit: undefined,
      trust: trust.rehearse(),
    }),
    skipCorrupt: session?.skipCorrupt ?? [],
    config,
    place,
    actor: actorOf(env),
    provenance: provenanceOf(env),
  };
}

/** A publisher who gives a key takes the release for signed. */
function warnOfUnusedKeys({ session, stderr }: Terminal, trust: Trust): void {
  const application = session?.application ?? session?.defaultApplication ?? '';
  if ((session?.keys ?? []).length === 0 || trust.of(application) !== undefined) return;
  const warning = `slipway: --key has no effect: TRUST_ROOT has no root of trust for ${application}, so the command signs nothing.`;
  stderr.write(`${printableText(warning)}\n`);
}

/** @throws AppError `key_required` when no person can be asked */
async function askPassphrase(
  terminal: Terminal,
  { trust: { passphrase } }: CommandConfig,
  name: string,
): Promise<string> {
  if (passphrase !== undefined) return passphrase.reveal();
  const asked = isInteractive(terminal)
    ? await askHidden(terminal, `Passphrase of ${name}`)
    : undefined;
  if (asked !== undefined) return asked;
  throw new AppError(
    'key_required',
    `${name} has a passphrase. Set TRUST_KEY_PASSPHRASE, or run the command on a terminal.`,
  );
}

/** Announces a dry run before its output, because the output itself reads as if something changed. */
export function sayDryRun(terminal: Terminal, writesTo: string): void {
  const { session } = terminal;
  if (session?.isDryRun !== true || session.printsJson) return;
  print(
    terminal,
    `Dry run: nothing is written to ${writesTo}. Without --dry-run, the command does this:`,
  );
}

/**
 * The user who runs the command, for the history. The name comes from `SLIPWAY_ACTOR`, the CI service or the system.
 */
function actorOf(env: Environment): string {
  const name = env.SLIPWAY_ACTOR ?? env.GITHUB_ACTOR ?? env.GITLAB_USER_LOGIN;
  return name ?? `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user id may have no name.
    return 'unknown';
  }
}

/** Reads the variables of GitHub Actions and GitLab CI. */
function provenanceOf(env: Environment): Context['provenance'] {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID } = env;
  const run =
    GITHUB_SERVER_URL && GITHUB_REPOSITORY && GITHUB_RUN_ID
      ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`
      : undefined;
  return {
    commit: env.GITHUB_SHA ?? env.CI_COMMIT_SHA ?? null,
    buildUrl: run ?? env.CI_JOB_URL ?? null,
  };
}
