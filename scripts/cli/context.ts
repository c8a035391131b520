import { hostname, userInfo } from 'node:os';
import { openPublisher, type Publisher } from '../../src/app/stores.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import type { Environment, Terminal } from './terminal.ts';

/** What every command starts from. */
export interface Context extends Publisher {
  readonly config: Config;
  readonly actor: string;
  readonly provenance: { readonly commit: string | null; readonly buildUrl: string | null };
}

/** @throws AppError `invalid_configuration` */
/** @param skipCorrupt as a person gave it: see `AppendDeps` */
export async function openContext(
  { environment }: Terminal,
  skipCorrupt: readonly number[] = [],
): Promise<Context> {
  const env = environment();
  const config = loadConfig(env, 'command');
  const publisher = await openPublisher({
    config,
    clock: systemClock,
    randomness: systemRandomness,
  });
  return { ...publisher, skipCorrupt, config, actor: actorOf(env), provenance: provenanceOf(env) };
}

/** For the history: as the CI service or the system names whoever runs this. */
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
