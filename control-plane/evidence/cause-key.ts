import { registrableDomain } from "#shared/registrable-domain.ts";
import { completeUrl } from "#shared/target-url.ts";

/** Check types whose target can be a URL, or is completed to one. */
const URL_TYPES: ReadonlySet<string> = new Set(["http", "keyword", "ssl"]);

/** Maximum length of a host in a key; DNS allows 253 characters. */
const MOST_HOST = 255;

/** A target as a monitor names it. */
interface Target {
  readonly url: string;
  readonly checkType: string;
}

/** Returns the host name or address of a target in lower case; empty for a heartbeat, which has none. */
export function hostOf({ url, checkType }: Target): string {
  if (checkType === "heartbeat") return "";
  const parsed = URL_TYPES.has(checkType) ? URL.parse(completeUrl(url) ?? "") : null;
  const host = (parsed?.hostname ?? url).toLowerCase().replace(/\.$/, "");
  return (host.startsWith("[") ? host.slice(1, -1) : host).slice(0, MOST_HOST);
}

/**
 * Returns the place at which a cause is looked for if no good check says which address the target had: the registered
 * domain of a name, else the host itself. Each heartbeat is a place of its own: its cause is in its job.
 */
export function placeOf(monitor: Target & { readonly id: number }): string {
  const host = hostOf(monitor);
  return host === "" ? `monitor ${monitor.id}` : (registrableDomain(host) ?? host);
}
