/** Measures the processor time of work, which other processes affect less than the elapsed time. */

/** Runs `work` and returns the processor time of this process during it, in milliseconds. */
export async function measureProcessorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
