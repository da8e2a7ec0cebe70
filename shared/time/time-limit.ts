/**
 * Returns the result of `work`, or `otherwise` after `ms` milliseconds. The work is not cancelled and continues to its
 * end.
 */
export async function waitAtMost<T>(ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(otherwise), Math.max(0, ms));
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
