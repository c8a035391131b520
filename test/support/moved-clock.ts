import { readFileSync } from 'node:fs';

/**
 * Moves the clock of a process: it is loaded with `--import`, and adds the milliseconds in the file `MOVED_CLOCK` to
 * the time. A test moves the clocks of several processes by writing the file.
 */

const RealDate = Date;
let aheadMs = 0;
const read = (): void => {
  aheadMs = Number(readFileSync(String(process.env.MOVED_CLOCK), 'utf8'));
};
read();
setInterval(read, 20).unref();

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given) => Reflect.construct(target, given.length > 0 ? given : [now()]),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

function now(): number {
  return RealDate.now() + aheadMs;
}
