import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Row, Table } from './table.ts';

/** Sums up the processor profiles that Node wrote with `--cpu-prof`. */

const TOP = 25;

/** The part of the format that is used here. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
}

/** The functions and the packages and rooms with the most self time, in all profiles of a directory. */
export async function summarizeProfiles(directory: string): Promise<readonly Table[]> {
  const functions = new Map<string, number>();
  const places = new Map<string, number>();
  for (const name of await readdir(directory)) {
    const text = await readFile(path.join(directory, name), 'utf8');
    const { nodes, samples, timeDeltas } = JSON.parse(text) as CpuProfile;
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    for (const [index, id] of samples.entries()) {
      const frame = frames.get(id);
      if (frame === undefined || frame.functionName === '(idle)') continue;
      const micros = timeDeltas[index] ?? 0;
      add(functions, textOf(frame), micros);
      add(places, placeOf(frame), micros);
    }
  }
  return [
    tableOf('profile: self time by package and room', places),
    tableOf('profile: self time by function', functions),
  ];
}

function add(sums: Map<string, number>, key: string, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

function textOf({ functionName, url, lineNumber }: CallFrame): string {
  const file = url.replace(/^.*\/(node_modules|dist)\//, '');
  return `${functionName || '(anonymous)'} ${file}${file === '' ? '' : `:${lineNumber + 1}`}`;
}

/** A package, a room of `src`, or Node itself. */
function placeOf({ functionName, url }: CallFrame): string {
  const dependency = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  const room = /\/dist\/(src\/[^/]+)/.exec(url)?.[1];
  return dependency ?? room ?? (url.startsWith('node:') ? 'node' : functionName || 'native code');
}

function tableOf(title: string, sums: ReadonlyMap<string, number>): Table {
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0);
  const rows = [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(
      ([name, micros]): Row => ({
        cells: [name, (micros / 1000).toFixed(0), `${((100 * micros) / total).toFixed(1)} %`],
      }),
    );
  const notes = ['Without idle time; starts and warm-ups are included.'];
  return { title, heading: ['', 'ms', 'share'], rows, notes };
}
