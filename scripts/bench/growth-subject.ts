import { type Environment, type Server, startService, waitFor } from './child-process.ts';
import type { Compared } from './compare.ts';
import { fillApplication, openTarget } from './content.ts';
import type { BenchContext } from './context.ts';
import { CHANNELS, type Figure } from './growth-table.ts';
import type { Request } from './load.ts';

/** The stores of the growth benchmark, their services and their clients. */

const PLATFORMS = ['windows', 'macos', 'linux'];

/** A store of one size, and what is measured on it. */
export interface Subject {
  readonly name: string;
  readonly applications: number;
  readonly dataDirectory: string;
  /** See {@link fillApplication}. */
  readonly prepareChange?: () => () => Promise<number>;
  readonly measured: Map<Figure, number[]>;
  checks?: Compared;
}

export function record({ measured }: Subject, figure: Figure, value: number): void {
  measured.set(figure, [...(measured.get(figure) ?? []), value]);
}

/** @param counts the number of releases of each application */
export async function fill(
  { makeDirectory, progress }: BenchContext,
  name: string,
  counts: readonly number[],
): Promise<Subject> {
  const dataDirectory = await makeDirectory();
  const target = await openTarget({ DATA_DIR: dataDirectory });
  let prepareChange: Subject['prepareChange'];
  for (const [index, count] of counts.entries()) {
    progress(`growth: filling ${name}, application ${index + 1}`);
    const change = await fillApplication(target, applicationAt(index), count, CHANNELS);
    prepareChange ??= change;
  }
  const rest = prepareChange && { prepareChange };
  return { name, applications: counts.length, dataDirectory, measured: new Map(), ...rest };
}

function applicationAt(index: number): string {
  return index === 0 ? 'desktop' : `desktop-${index}`;
}

/** A check of a client with an old version. To answer it, the service needs the catalog, a release and a link. */
export function checkOf(client: number, applications: number): Request {
  const platform = PLATFORMS[client % PLATFORMS.length];
  const version = `0.${client % 100}.0`;
  const app = applicationAt(client % applications);
  return {
    ...{ method: 'POST', path: '/api/v1/desktop/check-update', status: 200 },
    body: { current_version: version, platform, arch: 'x64', app, installation_id: '{id}' },
    contains: '"update_available":true',
  };
}

export function firstAnswer(server: Server, text?: string): Promise<number> {
  const { path: target, body, contains } = checkOf(0, 1);
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return waitFor(server, target, text ?? contains, init);
}

export function start(
  context: BenchContext,
  { dataDirectory }: Subject,
  env: Environment = {},
): Promise<Server> {
  return startService(context, { DATA_DIR: dataDirectory, ...env });
}

/** Commits a revision that changes one offer, and waits until the service answers from it. */
export async function changeOffer(subject: Subject, server: Server): Promise<void> {
  const revision = await subject.prepareChange?.()();
  await firstAnswer(server, `"catalog_revision":${revision}`);
}
