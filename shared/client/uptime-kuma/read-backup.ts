import { objectsOf, textOf, toName, type Source } from "#shared/client/uptime-kuma/source.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { findJsonFault } from "#shared/json/faults.ts";

/** A backup of Uptime Kuma. */
export interface Backup {
  /** Its release; "" if the file does not say. */
  readonly version: string;
  readonly monitors: readonly Source[];
  /** Numbers of other items of the backup, by what they are. */
  readonly others: readonly { readonly what: string; readonly count: number }[];
}

/** Maximum size of a file, octets. */
export const LARGEST_FILE = 20 * 1024 * 1024;
/** Deepest nesting: monitors have groups of conditions. */
const DEEPEST = 64;
/** Most lists and objects, of which a monitor has about ten. */
const MOST_CONTAINERS = 1_000_000;
const MOST_MONITORS = 10_000;
const LONGEST_VERSION = 30;

/** Parses JSON that is neither too deep nor too large for the heap, or says why it is none. */
export function parseJson(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string } {
  try {
    const fault = findJsonFault(text, { deepest: DEEPEST, mostContainers: MOST_CONTAINERS });
    if (fault?.kind === "deep") return { ok: false, why: `it has more than ${DEEPEST} levels` };
    if (fault?.kind === "crowded") return { ok: false, why: `it has more than ${MOST_CONTAINERS} lists and objects` };
    if (fault !== null) return { ok: false, why: "an object has a name twice" };
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, why: "it is no JSON" };
  }
}

/** What is not taken over, by its list. */
const OTHERS: readonly (readonly [list: string, what: string])[] = [
  ["notificationList", "notification"],
  ["proxyList", "proxy"],
  ["maintenanceList", "maintenance window"],
  ["statusPageList", "status page"],
];

/**
 * Reads the file of Settings > Backup in release 1 (louislam/uptime-kuma, src/components/settings/Backup.vue): an object
 * with version, notificationList, monitorList, and proxyList where there are proxies. Release 2 has no such file: its
 * clients get the monitors as an object by their ids (server/uptime-kuma-server.js, getMonitorJSONList), which is read too,
 * as is a list of them. Monitors are those of server/model/monitor.js, toJSON.
 */
export function readBackup(
  bytes: Uint8Array,
): { readonly ok: true; readonly backup: Backup } | { readonly ok: false; readonly why: string } {
  const text = decode(bytes);
  if (text === null) return { ok: false, why: "it is not UTF-8" };
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  const whole = isRecord(parsed.value) ? parsed.value : { monitorList: parsed.value };
  const list = Object.hasOwn(whole, "monitorList") || !isListById(whole) ? whole : { monitorList: whole };
  const monitors = objectsOf(list, "monitorList");
  if (monitors === null) return { ok: false, why: "it has no monitorList, as a backup of Uptime Kuma has" };
  if (monitors.length > MOST_MONITORS) return { ok: false, why: `it has more than ${MOST_MONITORS} monitors` };
  const version = toName(textOf(list, "version"), LONGEST_VERSION);
  // Any JSON list would be a list of monitors else.
  const isNone = monitors.length > 0 ? !monitors.some((monitor) => textOf(monitor, "type") !== "") : version === "";
  if (isNone) return { ok: false, why: "it has no monitors, which are objects with a type" };
  const others = OTHERS.map(([name, what]) => ({ what, count: objectsOf(list, name)?.length ?? 0 }));
  return { ok: true, backup: { version, monitors, others: others.filter(({ count }) => count > 0) } };
}

/** Reports whether an object has monitors by their ids, and nothing else. */
function isListById(whole: Source): boolean {
  const entries = Object.entries(whole);
  return entries.length > 0 && entries.every(([id, item]) => /^\d{1,15}$/.test(id) && isRecord(item));
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
