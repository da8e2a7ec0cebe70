import { readFileSync, statSync } from "node:fs";
import { isRecord } from "#shared/is-record.ts";
import type { Opened } from "#probe-agent/data/opened.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";

/** Chromium's file has about 20 MB; a much larger file is something else. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Comments are on separate lines in this file. */
const COMMENT_LINE = /^[ \t]*\/\/.*$/gm;
const SETTING = "VANTAGE_HSTS_PRELOAD_FILE";

/** A loaded list. */
interface HstsPreloadList {
  readonly atHand: boolean;
  readonly find: DataPort["hstsPreload"];
}

/** No list: nothing is known about any host. */
const NONE: HstsPreloadList = { atHand: false, find: () => null };

/** Reads Chromium's transport_security_state_static.json once; null: no file is configured. */
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
  return { ok: false, line: `${SETTING}: ${words.replaceAll(/\p{Cc}+/gu, " ").slice(0, 400)}` };
}

/** An entry: whether browsers force HTTPS for a name, and for names below it. */
interface Entry {
  readonly forced: boolean;
  readonly below: boolean;
}

/** The few kinds of entries, shared by the hundred thousands of names. */
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
  return { atHand: true, find: (host) => find(names, host) };
}

/**
 * The nearest entry decides, the host's own or one above it, as in Chromium's decoder: one without subdomains shadows
 * a wider one further up, and one that only pins keys forces nothing.
 */
function find(names: ReadonlyMap<string, Entry>, host: string): { include_subdomains: boolean } | null {
  const own = host.toLowerCase().replace(/\.$/, "");
  for (let name = own; name !== ""; name = above(name)) {
    const entry = names.get(name);
    if (entry === undefined) continue;
    return entry.forced && (name === own || entry.below) ? { include_subdomains: entry.below } : null;
  }
  return null;
}

function above(name: string): string {
  const dot = name.indexOf(".");
  return dot === -1 ? "" : name.slice(dot + 1);
}
