import type { Read } from "#shared/schema/problem.ts";
import { readVisible } from "#control-plane/user-text.ts";

/** Maximum length of a note or an update, in characters. */
export const MOST_TEXT = 5_000;

/** Returns the title that the incident of an outage has at first. */
export function outageTitle(monitorName: string): string {
  return `${monitorName} is down`;
}

/** Reads a title, which a schema has already found to be one line; blanks around it are removed. */
export function readTitle(title: string): Read<string> {
  const read = readVisible("title", title);
  return read.ok ? { ok: true, value: read.value.trim() } : read;
}
