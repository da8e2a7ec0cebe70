import { completeUrl } from "#shared/target-url.ts";
import { plainLine } from "#control-plane/incidents/cause/plain-line.ts";
import type { MonitorTarget } from "#control-plane/incidents/incident.ts";

/** What a monitor connects to. */
interface Target {
  /** Host or domain name, printable. */
  readonly host: string;
  /** null if the check uses no port. */
  readonly port: number | null;
}

/** Maximum length of a name in a sentence. */
const MOST_HOST = 80;

/** Returns host and port of a monitor's target. */
export function readTarget({ url, checkType, settings }: MonitorTarget): Target {
  const parsed = URL.parse(completeUrl(url) ?? "");
  const host = plainLine(parsed?.hostname ?? url, MOST_HOST);
  if (checkType !== "http" && checkType !== "keyword") return { host, port: settings.port };
  if (parsed === null) return { host, port: null };
  return { host, port: parsed.port === "" ? (parsed.protocol === "http:" ? 80 : 443) : Number(parsed.port) };
}
