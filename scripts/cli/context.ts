import { hostname, userInfo } from 'node:os';
import { openPublisher, type Publisher } from '../../src/app/stores.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import { missingStore, type Place, placeOf, type Subject } from './place.ts';
import { type Environment, print, type Terminal } from './terminal.ts';

/** What every command starts from. */
export interface Context extends Publisher {
  readonly config: Config;
  readonly actor: string;
  readonly provenance: { readonly commit: string | null; readonly buildUrl: string | null };
  /** The store that the command works on: every answer names it. */
  readonly place: Place;
}

/**
 * Opens the store that the settings name, as the command's options want it.
 *
 * @param mayBeNew whether the command may start a directory store, rather than refuse a missing one
 * @throws AppError `invalid_configuration`, also when there is no store, and the store's
 */
export async function openContext(
  terminal: Terminal,
  { subject = 'releases', mayBeNew = false }: { subject?: Subject; mayBeNew?: boolean } = {},
): Promise<Context> {
  const env = terminal.environment();
  const config = loadConfig(env, 'command');
  const place = placeOf(config, subject);
  const { session } = terminal;
  if (session !== undefined) session.place = place;
  const publisher = await openPublisher({
    config,
    clock: systemClock,
    randomness: systemRandomness,
    isDryRun: session?.isDryRun === true,
  });
  if (!mayBeNew && !(await publisher.hasStore())) throw missingStore(place, config);
  sayDryRun(terminal);
  return {
    ...publisher,
    skipCorrupt: session?.skipCorrupt ?? [],
    config,
    place,
    actor: actorOf(env),
    provenance: provenanceOf(env),
  };
}

/** One line before everything that a command prints, so that no sentence of its own can be mistaken. */
function sayDryRun(terminal: Terminal): void {
  const { session } = terminal;
  if (session?.isDryRun !== true || session.printsJson) return;
  print(
    terminal,
    `Dry run: nothing is written to ${session.place?.text}. Without --dry-run, the command says:`,
  );
}

/** For the history: the person or job that runs the command, as the CI service or the system names it. */
function actorOf(env: Environment): string {
  const name = env.SLIPWAY_ACTOR ?? env.GITHUB_ACTOR ?? env.GITLAB_USER_LOGIN;
  return name ?? `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return 'unknown';
  }
}

/** As GitHub Actions and GitLab CI say it. */
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
