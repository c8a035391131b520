import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Table } from './table.ts';

/** Adds up the processor profiles that Node wrote with `--cpu-prof`. */

const TOP = 25;

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** The number of the line, from 0. */
  readonly lineNumber: number;
}

/** The part of the profile format that this file reads. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly samples: readonly number[];
  /** The microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

/**
 * Finds the functions, packages and rooms that spent the most time in their own code, over all profiles of a directory.
 */
export async function summarizeProfiles(directory: string): Promise<readonly Table[]> {
  const sums = {
    'package and room': new Map<string, number>(),
    function: new Map<string, number>(),
  };
  for (const name of await readdir(directory)) {
    const text = await readFile(path.join(directory, name), 'utf8');
    const { nodes, samples, timeDeltas }: CpuProfile = JSON.parse(text);
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    for (const [index, id] of samples.entries()) {
      const { functionName, url, lineNumber } = frames.get(id) ?? {
        functionName: '(idle)',
        url: '',
        lineNumber: 0,
      };
      if (functionName === '(idle)') continue;
      const file = url.replace(/^.*\/(node_modules|dist)\//, '');
      const place =
        /^(src\/(?:features\/)?[^/]+|@[^/]+\/[^/]+|[^/:]+)/.exec(file)?.[0] || functionName;
      const keys = {
        'package and room': place,
        function: `${functionName} ${file}:${lineNumber + 1}`,
      };
      for (const [by, key] of Object.entries(keys) as [keyof typeof sums, string][]) {
        sums[by].set(key, (sums[by].get(key) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
      }
    }
  }
  return Object.entries(sums).map(([by, all]) => {
    const total = [...all.values()].reduce((sum, value) => sum + value, 0);
    const top = [...all].sort(([, a], [, b]) => b - a).slice(0, TOP);
    return {
      title: `profile: self time by ${by}`,
      heading: ['', 'ms', 'share'],
      rows: top.map(([name, ms]) => ({
        cells: [name, ms.toFixed(0), `${((100 * ms) / total).toFixed(1)} %`],
      })),
      notes: ['Without idle time; starts and warm-ups are included.'],
    };
  });
}
