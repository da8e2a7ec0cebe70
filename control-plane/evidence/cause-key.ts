import { createHash } from "node:crypto";
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

/** A monitor, as far as its target depends on it. */
interface Monitor extends Target {
  readonly id: number;
  readonly settings: { readonly port: number | null };
}

/**
 * Returns a key that is equal for outages which look the same: those of monitors of one type with the same host, port and
 * path, and with the same cause, word for word. A heartbeat has no target: its cause is in its job alone.
 */
export function causeKeyOf(monitor: Monitor, cause: { readonly code: string; readonly message: string }): string {
  const { url, checkType, settings } = monitor;
  if (checkType === "heartbeat") return `heartbeat ${monitor.id}`;
  const parsed = URL_TYPES.has(checkType) ? URL.parse(completeUrl(url) ?? "") : null;
  const path = parsed === null ? "" : parsed.pathname + parsed.search;
  const port = settings.port ?? parsed?.port ?? "";
  const target = [checkType, parsed?.protocol ?? "", hostOf(monitor), port, path].join(" ");
  // The texts of one key can be long and are compared only.
  return createHash("sha256")
    .update(JSON.stringify([target, cause.code, cause.message]))
    .digest("base64url");
}
