import type { Element } from "domhandler";

/** Returns the level of a heading element, 1 to 6, or null for any other element. */
export function headingLevel({ name }: Element): number | null {
  return name.length === 2 && name.startsWith("h") && name >= "h1" && name <= "h6" ? Number(name.charAt(1)) : null;
}

/** Reports whether the headings begin with h1 and skip no level on the way down. false without headings. */
export function headingsInOrder(levels: readonly number[]): boolean {
  return levels.length > 0 && levels.every((level, index) => level <= (levels[index - 1] ?? 0) + 1);
}
