/**
 * Stops the clock of a process, which loads this file with `--import`: every call tells the time in `STOPPED_AT`
 * (ISO 8601). Two runs on different days then show the same texts. Timers run on.
 */

const RealDate = Date;
const stoppedAt = RealDate.parse(String(process.env.STOPPED_AT));
const now = (): number => stoppedAt;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given) => Reflect.construct(target, given.length > 0 ? given : [stoppedAt]),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
