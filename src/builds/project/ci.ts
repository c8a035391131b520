import type { FoundCi } from './project.ts';
import { findFiles, namesIn, readConfiguration, readText } from './project-files.ts';

/** Finds the CI service of the repository, and the CI files that already publish with Slipway. */

export const GITLAB_FILE = '.gitlab-ci.yml';
const WORKFLOWS = '.github/workflows';

/** @param root the directory of the repository */
export async function findCi(root: string): Promise<FoundCi> {
  const names = await namesIn(root);
  const remote = remoteKind(await readText(root, '.git/config'));
  const found =
    remote === undefined ? byName(names) : { kind: remote, shownBy: 'the remote in .git/config' };
  return { ...found, publishing: await publishingFiles(root), lastStage: await lastStage(root) };
}

function byName(names: readonly string[]): Pick<FoundCi, 'kind' | 'shownBy'> {
  if (names.includes('.github')) return { kind: 'github', shownBy: '.github' };
  if (names.includes(GITLAB_FILE)) return { kind: 'gitlab', shownBy: GITLAB_FILE };
  return { kind: undefined, shownBy: '' };
}

/** Finds the service by the host in the address of a remote: `git@github.com:…`, `https://gitlab.example.com/…`. */
function remoteKind(config: string | undefined): 'github' | 'gitlab' | undefined {
  const remotes = [...(config ?? '').matchAll(/^\[remote "([^"]+)"\][^\n]*((?:\n(?!\[).*)*)/gm)];
  const addressed = remotes.map(([, name = '', lines = '']) => ({
    name,
    host: /^[ \t]*url[ \t]*=[ \t]*(?:\w+:\/\/)?(?:[^@/\s]+@)?([^/:\s]+)/m.exec(lines)?.[1] ?? '',
  }));
  const ordered = addressed.sort(
    (a, b) => Number(b.name === 'origin') - Number(a.name === 'origin'),
  );
  for (const { host } of ordered) {
    if (/(^|\.)github(\.|$)/i.test(host)) return 'github';
    if (/(^|\.)gitlab(\.|$)/i.test(host)) return 'gitlab';
  }
  return undefined;
}

async function publishingFiles(root: string): Promise<readonly string[]> {
  const workflows = await findFiles(`${root}/${WORKFLOWS}`, /\.ya?ml$/i, 1);
  const here = await findFiles(root, /\.gitlab-ci\.yml$/i, 1);
  const files = [...workflows.map((name) => `${WORKFLOWS}/${name}`), ...here];
  const texts = await Promise.all(files.map((file) => readText(root, file)));
  return files.filter((_file, at) => /\bslipway\b/i.test(texts[at] ?? ''));
}

/**
 * The last stage of the pipeline. GitLab accepts a job of an included file only when the pipeline has the stage of the
 * job.
 */
async function lastStage(root: string): Promise<string | undefined> {
  // The file may have tags that only GitLab knows, or errors. Then no stage is known.
  const pipeline = await readConfiguration(root, GITLAB_FILE).catch(() => undefined);
  const stages = pipeline?.stages;
  const last: unknown = Array.isArray(stages) ? stages.at(-1) : undefined;
  return typeof last === 'string' && /^[\w .-]+$/.test(last) ? last : undefined;
}
