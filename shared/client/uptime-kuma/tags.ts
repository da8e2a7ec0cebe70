import type { Context } from "#shared/client/uptime-kuma/context.ts";
import { flagOf, objectsOf, shown, textOf, toName, type Source } from "#shared/client/uptime-kuma/source.ts";

/** A group of monitors. */
interface Group {
  readonly tag: string;
  readonly parent: string;
  readonly isActive: boolean;
}

/** The groups of a backup by their ids. */
export type Groups = ReadonlyMap<string, Group>;

const LONGEST_TAG = 50;
const MOST_TAGS = 20;
/** The tag of an owner says which monitors an apply of a document may delete: a backup must not have it. */
const OWNED = /^managed:/;
const UNKNOWN = /[^a-z0-9:_./-]/;

/** Returns the groups of the monitors. */
export function readGroups(monitors: readonly Source[]): Groups {
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
export function isActive(monitor: Source): boolean {
  return !Object.hasOwn(monitor, "active") || flagOf(monitor, "active");
}

/** Returns the groups that a monitor is in, the innermost first. */
export function groupsOf(monitor: Source, groups: Groups): readonly Group[] {
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
export function readTags(
  monitor: Source,
  groups: readonly Group[],
  { leaveOut, change }: Pick<Context, "leaveOut" | "change">,
): readonly string[] {
  const tags = new Set(groups.map(({ tag }) => tag));
  for (const item of objectsOf(monitor, "tags") ?? []) {
    const [name, value] = [textOf(item, "name"), textOf(item, "value")];
    const text = value === "" ? name : `${name}:${value}`;
    const tag = toTag(text);
    if (tag === "") leaveOut("tags", `${shown(text)} has no letter or digit that a tag can have`);
    else if (tags.size === MOST_TAGS && !tags.has(tag)) leaveOut("tags", `a monitor has at most ${MOST_TAGS}`);
    else {
      if (tag !== text) change("tags", `${shown(text)} is ${tag}`);
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
