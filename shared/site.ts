/** Longest text looked at, characters. */
const MAX_TEXT = 8192;
const HAS_SCHEME = /^https?:\/\//i;

/**
 * The addresses at which a web site named by a host, host:port or URL is to be looked for, the best first: the URL given,
 * or https and then http of the host. Nothing is vetted here; what is no URL at all comes back as it is, for the egress
 * rules to refuse.
 */
export function siteUrls(text: string): readonly [string, ...string[]] {
  const given = text.slice(0, MAX_TEXT);
  if (HAS_SCHEME.test(given)) return [given];
  const host = given.includes(":") && !given.includes("[") && given.split(":").length > 2 ? `[${given}]` : given;
  return [`https://${host}/`, `http://${host}/`];
}
