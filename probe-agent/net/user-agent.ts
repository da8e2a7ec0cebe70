/** The User-Agent of every request that names no other: who asks, and where to complain. */
export function userAgent(version: string, contactUrl: string): string {
  return `Vantage/${version} (+${contactUrl})`;
}
