import { appendFileSync } from 'node:fs';
import { WASI } from 'node:wasi';
import { ABOVE_MS_VARIABLE, FILE_VARIABLE } from './longest-turn.ts';

/** Measures the turns of the event loop of the process that loads this file: see `longest-turn.ts`. */

/** An empty module of WebAssembly with a memory. Node needs a memory to call functions of WASI. */
const MODULE = new Uint8Array([
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 3, 1, 0, 1, 7, 19, 2],
  ...[...Buffer.from('\x06memory'), 2, 0, ...Buffer.from('\x06_start'), 0, 0],
  ...[10, 4, 1, 2, 0, 11],
]);
const CLOCK_THREAD_CPUTIME = 3;

const file = process.env[FILE_VARIABLE];
if (file !== undefined) measureTurns(file, Number(process.env[ABOVE_MS_VARIABLE]));

function measureTurns(file: string, aboveMs: number): void {
  const now = createThreadClock();
  let before = now();
  // Node runs this immediate once in every round of the event loop. It does not keep the loop from sleeping, nor the
  // process from ending.
  const measure = (): void => {
    const ms = now() - before;
    if (ms >= aboveMs) appendFileSync(file, `${JSON.stringify({ ms, endedAt: Date.now() })}\n`);
    setImmediate(measure).unref();
    before = now();
  };
  measure();
}

/**
 * The processor time of this thread, in milliseconds, with a resolution below a microsecond.
 * `process.threadCpuUsage()` counts in ticks of the kernel, which take up to 4 ms.
 */
function createThreadClock(): () => number {
  const wasi = new WASI({ version: 'preview1' });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(MODULE));
  wasi.start({ exports });
  const { clock_time_get: read } = wasi.wasiImport as {
    clock_time_get(id: number, precision: bigint, address: number): number;
  };
  const { buffer } = exports.memory as WebAssembly.Memory;
  return () => {
    const error = read(CLOCK_THREAD_CPUTIME, 1n, 0);
    if (error !== 0)
      throw new Error(`WASI cannot read the processor time of the thread: ${error}.`);
    return Number(new DataView(buffer).getBigUint64(0, true)) / 1e6;
  };
}
