/** Returns the default User-Agent of requests: the product and an address for complaints. */
export function userAgent(version: string, contactUrl: string): string {
  return `Vantage/${version} (+${contactUrl})`;
}
