import type { RobotsFile } from "#probe-agent/analysis/web/robots/parse.ts";

/** Preferences of a site for uses of its content; null if it states none. */
interface ContentSignals {
  readonly search: boolean | null;
  readonly ai_input: boolean | null;
  readonly ai_train: boolean | null;
}

/**
 * Parses the Content-Signal lines for all crawlers (contentsignals.org: comma-separated `name=yes|no`, for the user
 * agents of their group). The last value for a use counts.
 */
export function contentSignals(file: RobotsFile): ContentSignals {
  const said = new Map<string, boolean>();
  for (const { value } of linesForEveryone(file, "content-signal")) {
    for (const part of value.slice(0, 1_000).split(/[,;]/)) {
      const [, name, word] = /^\s*([a-z-]{1,20})\s*=\s*(yes|no)\s*$/i.exec(part) ?? [];
      if (name !== undefined && word !== undefined) said.set(name.toLowerCase(), word.toLowerCase() === "yes");
    }
  }
  const of = (name: string): boolean | null => said.get(name) ?? null;
  return { search: of("search"), ai_input: of("ai-input"), ai_train: of("ai-train") };
}

/** Returns the Content-Usage preference for all crawlers, unchanged (IETF aipref); null if there is none. */
export function contentUsage(file: RobotsFile): string | null {
  return linesForEveryone(file, "content-usage")[0]?.value.slice(0, 200) ?? null;
}

/** Returns the lines of a key in "*" groups, and those before any group, which can only be for all crawlers. */
function linesForEveryone({ groups, unknown }: RobotsFile, key: string): RobotsFile["unknown"] {
  return unknown.filter((one) => {
    if (one.key.toLowerCase() !== key) return false;
    const group = groups.findLast(({ userAgents }) => (userAgents[0]?.line ?? Infinity) < one.line);
    return group === undefined || group.userAgents.some(({ token }) => token === "*");
  });
}
