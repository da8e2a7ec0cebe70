/**
 * Returns the CPU time that this thread has used, in milliseconds. Unlike a clock, it does not advance while a busy
 * machine runs something else.
 */
export function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
