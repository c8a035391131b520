/** The processor time of this thread for some work, in milliseconds: other programs of a busy machine do not count. */
export function cpuTimeOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
