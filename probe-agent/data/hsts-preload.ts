import { withoutControls } from "#shared/text/plain-line.ts";
import { readFileSync, statSync } from "node:fs";
import { isRecord } from "#shared/text/is-record.ts";
import type { Opened } from "#probe-agent/data/opened.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";

/** Chromium's file has about 20 MB; a much larger file is something else. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Comments are on separate lines in this file. */
const COMMENT_LINE = /^[ \t]*\/\/.*$/gm;
const SETTING = "VANTAGE_HSTS_PRELOAD_FILE";

/** A loaded list, or none. */
interface HstsPreloadList {
  readonly loaded: boolean;
  readonly find: DataPort["hstsPreload"];
}

/** Used without a list: nothing is known about any host. */
const NONE: HstsPreloadList = { loaded: false, find: () => null };

/** Reads Chromium's transport_security_state_static.json once. Without a configured file, returns an empty list. */
export function openHstsPreload(file: string | null): Opened<HstsPreloadList> {
  if (file === null) return { ok: true, data: NONE };
  try {
    if (statSync(file).size > MAX_BYTES) return fault(`${file}: larger than ${MAX_BYTES / 1024 / 1024} MB`);
    const list = parseHstsPreload(readFileSync(file, "utf8"));
    return list === null
      ? fault(`${file}: not Chromium's transport_security_state_static.json`)
      : { ok: true, data: list };
  } catch (error) {
    return fault(error instanceof Error ? error.message : String(error));
  }
}

function fault(words: string): { ok: false; line: string } {
  return { ok: false, line: `${SETTING}: ${withoutControls(words).slice(0, 400)}` };
}

/** Whether browsers force HTTPS for a name, and whether the entry applies to its subdomains. */
interface Entry {
  readonly forced: boolean;
  readonly below: boolean;
}

/** The four possible entries, shared by more than a hundred thousand names. */
const KINDS: readonly Entry[] = [
  { forced: false, below: false },
  { forced: false, below: true },
  { forced: true, below: false },
  { forced: true, below: true },
];

/** Parses the file's text, which may contain comments; null if it is not such a list. */
export function parseHstsPreload(text: string): HstsPreloadList | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, "").replaceAll(COMMENT_LINE, ""));
  } catch {
    return null;
  }
  const entries = isRecord(parsed) ? parsed["entries"] : undefined;
  if (!Array.isArray(entries)) return null;
  const names = new Map<string, Entry>();
  for (const entry of entries as readonly unknown[]) {
    if (!isRecord(entry) || typeof entry["name"] !== "string") return null;
    const forced = entry["mode"] === "force-https";
    const below = entry["include_subdomains"] === true;
    const kind = KINDS[Number(forced) * 2 + Number(below)];
    if (kind !== undefined) names.set(entry["name"].toLowerCase(), kind);
  }
  return { loaded: true, find: (host) => find(names, host) };
}

/**
 * Finds the nearest entry: the host's own or that of a parent domain, as Chromium's decoder does. An entry without
 * subdomains hides a wider entry of a parent domain, and an entry that only pins keys forces nothing.
 */
function find(names: ReadonlyMap<string, Entry>, host: string): { include_subdomains: boolean } | null {
  const own = host.toLowerCase().replace(/\.$/, "");
  for (let name = own; name !== ""; name = parentDomain(name)) {
    const entry = names.get(name);
    if (entry === undefined) continue;
    return entry.forced && (name === own || entry.below) ? { include_subdomains: entry.below } : null;
  }
  return null;
}

function parentDomain(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}
