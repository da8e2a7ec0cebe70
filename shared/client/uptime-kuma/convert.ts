import { VERSION } from "#shared/client/apply/read-document.ts";
import type { Context, ConvertOptions } from "#shared/client/uptime-kuma/context.ts";
import { explainType, KINDS } from "#shared/client/uptime-kuma/kinds.ts";
import type { Backup } from "#shared/client/uptime-kuma/read-backup.ts";
import { createSecrets, type Variable } from "#shared/client/uptime-kuma/secrets.ts";
import {
  flagOf,
  numberOf,
  textOf,
  toName,
  type NotTaken,
  type Source,
  objectsOf,
  quoteName,
} from "#shared/client/uptime-kuma/source.ts";
import { cutLine } from "#shared/text/plain-line.ts";

/** A monitor of the document. */
type MonitorRow = Readonly<Record<string, unknown>> & { readonly name: string };

/** A document of an apply, and what differs from the backup. */
interface Converted {
  readonly document: { readonly version: number; readonly monitors: readonly MonitorRow[] };
  /** The description of each monitor, in one line; "" without one. The service has none. */
  readonly descriptions: readonly string[];
  /** What an apply of the document needs. */
  readonly variables: readonly Variable[];
  /** What is not as it was, a line each, in the order of the backup; the last one has the counts. */
  readonly lines: readonly string[];
}

/** Numbers of the lines. */
interface Counts {
  taken: number;
  notTaken: number;
  leftOut: number;
  changed: number;
}

const LONGEST_NAME = 200;
const LONGEST_DESCRIPTION = 200;
/** Characters of a name that a line shows. */
const LONGEST_SHOWN = 60;
/** Limits of a monitor of the service. */
const LONGEST_MINUTES = 1_440;
const MOST_RETRIES = 5;
/** The interval of Uptime Kuma where a file has none, in seconds. */
const USUAL_INTERVAL = 60;

/** Converts a backup of Uptime Kuma to a document that the service accepts, whatever the backup has. */
export function convertBackup(backup: Backup, options: ConvertOptions): Converted {
  const groups = readGroups(backup.monitors);
  const secrets = createSecrets(options.includeSecrets);
  const uniqueName = createNames();
  const counts: Counts = { taken: 0, notTaken: 0, leftOut: 0, changed: 0 };
  const rows: MonitorRow[] = [];
  const descriptions: string[] = [];
  const lines: string[] = [];
  for (const monitor of backup.monitors) {
    if (textOf(monitor, "type") === "group") continue;
    const plain = plainName(monitor);
    const notes: string[] = [];
    const found = { leftOut: 0, changed: 0 };
    const context: Context = {
      options,
      leaveOut: (setting, why) => {
        found.leftOut += 1;
        notes.push(`${setting} left out: ${why}`);
      },
      change: (setting, how) => {
        found.changed += 1;
        notes.push(`${setting} changed: ${how}`);
      },
      remark: (text) => notes.push(text),
      secret: (field, value, hint) => secrets.add({ monitor: plain, field, hint: hint ?? null }, value),
    };
    const mapped = mapMonitor(monitor, groups, context);
    if (!mapped.ok) {
      counts.notTaken += 1;
      lines.push(`${cutLine(plain, LONGEST_SHOWN)}: not taken over: ${mapped.why}`);
      continue;
    }
    const name = uniqueName(plain);
    if (name !== textOf(monitor, "name")) context.change("name", `it is ${JSON.stringify(name)}`);
    rows.push({ name, ...mapped.row });
    descriptions.push(toName(textOf(monitor, "description"), LONGEST_DESCRIPTION));
    lines.push(...notes.map((note) => `${cutLine(name, LONGEST_SHOWN)}: ${note}`));
    counts.taken += 1;
    counts.leftOut += found.leftOut;
    counts.changed += found.changed;
  }
  for (const { what, count } of backup.others) lines.push(explainOthers(what, count));
  if (groups.size > 0)
    lines.push(`${quantity(groups.size, "group")} taken over as tags of their monitors, such as group:name`);
  return {
    document: { version: VERSION, monitors: rows },
    descriptions,
    variables: secrets.variables,
    lines: [...lines, summarize(counts)],
  };
}

type MappedRow = { readonly ok: true; readonly row: Readonly<Record<string, unknown>> } | NotTaken;

/** Maps everything of a monitor but its name. */
function mapMonitor(monitor: Source, groups: Groups, context: Context): MappedRow {
  const type = textOf(monitor, "type");
  const kind = KINDS.get(type);
  if (kind === undefined) return { ok: false, why: explainType(type) };
  if (flagOf(monitor, "upsideDown")) return { ok: false, why: "there is no upside down mode" };
  const mapped = kind.map(monitor, context);
  if (!mapped.ok) return mapped;
  const { url, ...fields } = mapped.fields;
  const above = groupsOf(monitor, groups);
  const isPaused = !isActive(monitor) || above.some((group) => !group.isActive);
  const tags = readTags(monitor, above, context);
  return {
    ok: true,
    row: {
      check_type: kind.checkType,
      ...(url === undefined ? {} : { url }),
      ...(kind.isProbed ? { interval_minutes: readInterval(monitor, context) } : {}),
      ...(kind.isProbed ? { retries: readRetries(monitor, context) } : {}),
      ...fields,
      ...readReminders(monitor),
      ...(tags.length === 0 ? {} : { tags }),
      ...(isPaused ? { is_active: false } : {}),
    },
  };
}

/** Reads the interval in whole minutes, rounded up. */
function readInterval(monitor: Source, { options, change }: Context): number {
  const given = numberOf(monitor, "interval") ?? USUAL_INTERVAL;
  const minutes = Math.min(Math.max(Math.ceil(given / 60), options.shortestIntervalMinutes), LONGEST_MINUTES);
  if (minutes * 60 !== given) change("interval", `${given} s is ${minutes} min`);
  return minutes;
}

/** Reads the further checks that must fail; they are made at intervals of the service. */
function readRetries(monitor: Source, { change, leaveOut }: Context): number {
  const given = Math.max(Math.ceil(numberOf(monitor, "maxretries") ?? 0), 0);
  const retries = Math.min(given, MOST_RETRIES);
  if (retries !== given) change("maxretries", `${given} is ${MOST_RETRIES}, the most`);
  const interval = numberOf(monitor, "interval");
  const between = numberOf(monitor, "retryInterval") ?? 0;
  if (retries > 0 && between > 0 && between !== interval) {
    leaveOut("retryInterval", "the service decides when a failed check is repeated");
  }
  return retries;
}

/** Reads after how many failing checks a notice is repeated, as minutes. */
function readReminders(monitor: Source): Readonly<Record<string, unknown>> {
  const checks = numberOf(monitor, "resendInterval") ?? 0;
  const minutes = Math.ceil((checks * (numberOf(monitor, "interval") ?? USUAL_INTERVAL)) / 60);
  return checks > 0 && minutes > 0 ? { repeat_minutes: Math.min(minutes, LONGEST_MINUTES) } : {};
}

/** Returns the name of a monitor as the service takes it. One without a name has its id. */
function plainName(monitor: Source): string {
  const name = toName(textOf(monitor, "name"), LONGEST_NAME);
  return name === "" ? toName(`monitor ${textOf(monitor, "id")}`, LONGEST_NAME) : name;
}

/** Returns a function that makes names unique, by which a document tells monitors apart. */
function createNames(): (name: string) => string {
  const taken = new Set<string>();
  // The next number of each name.
  const counts = new Map<string, number>();
  return (name) => {
    let unique = name;
    for (let number = counts.get(name) ?? 2; taken.has(unique); number += 1) {
      const mark = ` (${number})`;
      unique = `${toName(name.slice(0, LONGEST_NAME - mark.length), LONGEST_NAME)}${mark}`;
      counts.set(name, number + 1);
    }
    taken.add(unique);
    return unique;
  };
}

function explainOthers(what: string, number: number): string {
  const near = what === "notification" ? ": add webhooks, or notify_email to the monitors" : "";
  return `${quantity(number, what)} not taken over${near}`;
}

function summarize({ taken, notTaken, leftOut, changed }: Counts): string {
  const total = quantity(taken + notTaken, "monitor");
  const settings = `${quantity(leftOut, "setting")} left out, ${changed} changed`;
  return `${taken} of ${total} taken over; ${notTaken} not; ${settings}`;
}

function quantity(number: number, what: string): string {
  const plural = what.endsWith("y") ? `${what.slice(0, -1)}ies` : `${what}s`;
  return `${number} ${number === 1 ? what : plural}`;
}

/** A group of monitors. */
interface Group {
  readonly tag: string;
  readonly parent: string;
  readonly isActive: boolean;
}

/** The groups of a backup by their ids. */
type Groups = ReadonlyMap<string, Group>;

const LONGEST_TAG = 50;
const MOST_TAGS = 20;
/** The tag of an owner says which monitors an apply of a document may delete: a backup must not have it. */
const OWNED = /^managed:/;
const UNKNOWN = /[^a-z0-9:_./-]/;

/** Returns the groups of the monitors. */
function readGroups(monitors: readonly Source[]): Groups {
  const groups = monitors.filter((monitor) => textOf(monitor, "type") === "group");
  return new Map(
    groups.map((group) => [
      textOf(group, "id"),
      {
        tag: `group:${toTag(textOf(group, "name")) || toTag(textOf(group, "id"))}`.slice(0, LONGEST_TAG),
        parent: textOf(group, "parent"),
        isActive: isActive(group),
      },
    ]),
  );
}

/** Reports whether a monitor is not paused: one without the field is not. */
function isActive(monitor: Source): boolean {
  return !Object.hasOwn(monitor, "active") || flagOf(monitor, "active");
}

/** Returns the groups that a monitor is in, the innermost first. */
function groupsOf(monitor: Source, groups: Groups): readonly Group[] {
  const found = new Set<Group>();
  for (let group = groups.get(textOf(monitor, "parent")); group !== undefined; group = groups.get(group.parent)) {
    // Of groups within each other there is no outermost one.
    if (found.has(group) || found.size === MOST_TAGS) break;
    found.add(group);
  }
  return [...found];
}

/**
 * Returns the tags of a monitor: its own as `name` or `name:value` (louislam/uptime-kuma, server/model/monitor.js,
 * getTags), and those of its groups.
 */
function readTags(
  monitor: Source,
  groups: readonly Group[],
  { leaveOut, change }: Pick<Context, "leaveOut" | "change">,
): readonly string[] {
  const tags = new Set(groups.map(({ tag }) => tag));
  for (const item of objectsOf(monitor, "tags") ?? []) {
    const [name, value] = [textOf(item, "name"), textOf(item, "value")];
    const text = value === "" ? name : `${name}:${value}`;
    const tag = toTag(text);
    if (tag === "") leaveOut("tags", `${quoteName(text)} has no letter or digit that a tag can have`);
    else if (tags.size === MOST_TAGS && !tags.has(tag)) leaveOut("tags", `a monitor has at most ${MOST_TAGS}`);
    else {
      if (tag !== text) change("tags", `${quoteName(text)} is ${tag}`);
      tags.add(tag);
    }
  }
  return [...tags];
}

/** Returns a text as a tag: 1 to 50 of a-z 0-9 : _ . / -, accents without their letters; "" if nothing is left. */
function toTag(text: string): string {
  const words = toName(text, LONGEST_TAG * 2)
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    // The upper case of ß is SS.
    .toUpperCase()
    .toLowerCase()
    .split(UNKNOWN)
    .filter((word) => word !== "");
  const tag = words.join("-").replace(OWNED, "managed-").slice(0, LONGEST_TAG);
  return /[a-z0-9]/.test(tag) ? tag : "";
}
