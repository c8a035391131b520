import fs from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { UpdaterOptions } from '../../src/client/types.ts';

/**
 * Checks for an update and downloads it with the built client, in a process that kills itself at a call of the file system. Prints the number
 * of calls when it survives.
 */
const [client = '', text = '', killAt = '0'] = process.argv.slice(2);
let calls = 0;

/** A place is the moment before a call, or the moment after it. */
function count(): void {
  calls += 1;
  if (calls === Number(killAt)) process.kill(process.pid, 'SIGKILL');
}

type Call = (...args: unknown[]) => unknown;

function counted(call: Call): Call {
  return function (this: unknown, ...args) {
    count();
    const result = Reflect.apply(call, this, args);
    if (!(result instanceof Promise)) {
      count();
      return result;
    }
    return result.then((value) => {
      count();
      return value;
    });
  };
}

function countCalls(target: object, names: readonly string[]): void {
  const calls = target as Record<string, Call>;
  for (const name of names) calls[name] = counted(calls[name] as Call);
}

countCalls(promises, [
  'lstat',
  'mkdir',
  'mkdtemp',
  'open',
  'readFile',
  'readdir',
  'rename',
  'rm',
  'stat',
  'writeFile',
]);
countCalls(fs, ['readFileSync', 'writeFileSync']);
const handle: FileHandle = await promises.open(process.execPath);
countCalls(Object.getPrototypeOf(handle), ['write', 'writeFile', 'sync', 'truncate']);
await handle.close();
calls = 0;

const { createUpdater }: typeof import('../../src/client/index.ts') = createRequire(
  import.meta.url,
)(client);
const updater = createUpdater(JSON.parse(text) as UpdaterOptions);
const result = await updater.check();
if (!result.isOffered) throw new Error(result.reason);
await updater.download(result.offer);
console.log(calls);
