import { createHash } from "node:crypto";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { parseTarget } from "#control-plane/outages/kinds/server-target.ts";

/** Maximum length of a host in a key; DNS allows 253 characters. */
const MOST_HOST = 255;

/** A target as a monitor names it. */
interface Target {
  readonly url: string;
  readonly checkType: string;
}

/** Returns the host name or address of a target in lower case; empty for a kind without a target. */
export function hostOf({ url, checkType }: Target): string {
  const { target, evidence } = kindOf(checkType);
  if (target === null) return "";
  const parsed = evidence.splitsUrl ? parseTarget(url) : null;
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
 * path, and with the same cause, word for word. A kind without a target has causes of its own.
 */
export function causeKeyOf(monitor: Monitor, cause: { readonly code: string; readonly message: string }): string {
  const { url, checkType, settings } = monitor;
  const kind = kindOf(checkType);
  if (kind.target === null) return `${checkType} ${monitor.id}`;
  const parsed = kind.evidence.splitsUrl ? parseTarget(url) : null;
  const path = parsed === null ? "" : parsed.pathname + parsed.search;
  const port = settings.port ?? parsed?.port ?? "";
  const key = [checkType, parsed?.protocol ?? "", hostOf(monitor), port, path].join(" ");
  // The texts of one key can be long and are compared only.
  return createHash("sha256")
    .update(JSON.stringify([key, cause.code, cause.message]))
    .digest("base64url");
}
