/** Returns whether an Origin field names this service: VANTAGE_BASE_URL, or where that is loopback, the loopback host that
 * the request was sent to. `host`: the Host field. Pure. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined, baseUrl: string): boolean {
  if (origin === undefined) return false;
  const own = new URL(baseUrl);
  if (origin === own.origin) return true;
  const sent = URL.parse(origin);
  if (sent === null || !isLoopback(own.hostname) || !isLoopback(sent.hostname)) return false;
  return sent.origin === origin && host === sent.host;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

/** Where a sign-in leads, as given by `next`: a path of the dashboard only, never another site. Pure. */
export function nextPath(given: unknown): string {
  return typeof given === "string" && given.length <= 2_000 && /^\/app\/[!-[\]-~]*$/.test(given) ? given : "/app/";
}
