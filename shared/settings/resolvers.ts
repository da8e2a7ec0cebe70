import { isIP } from "node:net";
import { isRecord } from "#shared/text/is-record.ts";
import type { Kind } from "#shared/settings/kind.ts";

/** A public resolver of the propagation tool (setting VANTAGE_RESOLVERS). */
export interface ResolverEntry {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly address: string;
  readonly transport: "udp" | "tcp" | "dot" | "doh";
}

const TRANSPORTS: ReadonlySet<string> = new Set(["udp", "tcp", "dot", "doh"]);

/** Parses the list from JSON; undefined if it is not a list of 1 to 200 complete entries. */
export function parseResolvers(json: string): readonly ResolverEntry[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.length === 0 || parsed.length > 200) return undefined;
  return parsed.every(isEntry) ? parsed : undefined;
}

function isEntry(value: unknown): value is ResolverEntry {
  if (!isRecord(value)) return false;
  const { id, name, location, address, transport } = value;
  const named = [id, name, location].every((field) => typeof field === "string" && field !== "" && field.length <= 100);
  return named && TRANSPORTS.has(String(transport)) && isServer(String(address), String(transport));
}

function isServer(address: string, transport: string): boolean {
  if (transport === "doh") return URL.parse(address)?.protocol === "https:";
  const host =
    /^\[(.+)\](?::\d{1,5})?$/.exec(address)?.[1] ?? (isIP(address) ? address : address.replace(/:\d{1,5}$/, ""));
  return isIP(host) !== 0;
}

/** The source of the propagation tool's resolvers: entries, or a file that the agent reads. */
export type ResolverSource = { readonly entries: readonly ResolverEntry[] } | { readonly file: string };

/** JSON, if the text begins with a bracket, else a path. */
export const resolverSource: Kind<ResolverSource> = {
  allowed:
    'a JSON list of {"id", "name", "location", "address", "transport": "udp", "tcp", "dot" or "doh"}, or the path of a file with one',
  parse(value) {
    if (!value.trimStart().startsWith("[")) return /^[^\p{Cc}{]{1,4096}$/u.test(value) ? { file: value } : undefined;
    const entries = parseResolvers(value);
    return entries && { entries };
  },
};
