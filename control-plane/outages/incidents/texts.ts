import type { Read } from "#shared/schema/problem.ts";
import { readVisible } from "#control-plane/core/user-text.ts";

/** Maximum length of a note or an update, in characters. */
export const MOST_TEXT = 5_000;

/** Returns the title that the incident of an outage has at first. */
export function outageTitle(monitorName: string): string {
  return `${monitorName} is down`;
}

/** Returns the title of an outage that is over, as people read it. */
export function pastTitle(monitorName: string): string {
  return `${monitorName} was down`;
}

/** Returns the title of an incident as people read it: an outage that is over is in the past, unless a person has named it. */
export function shownTitle({ title, monitor, resolved_at: end }: Titled): string {
  return end !== null && monitor !== null && title === outageTitle(monitor.name) ? pastTitle(monitor.name) : title;
}

/** What the title of an incident depends on. */
interface Titled {
  readonly title: string;
  /** null: a person has opened it. */
  readonly monitor: { readonly name: string } | null;
  readonly resolved_at: string | null;
}

/** Reads a title, which a schema has already found to be one line; blanks around it are removed. */
export function readTitle(title: string): Read<string> {
  const read = readVisible("title", title);
  return read.ok ? { ok: true, value: read.value.trim() } : read;
}
