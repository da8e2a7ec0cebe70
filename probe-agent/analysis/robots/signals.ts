import type { RobotsFile } from "#probe-agent/analysis/robots/parse.ts";

/** What a site says of uses of its content; null where it says nothing. */
export interface ContentSignals {
  readonly search: boolean | null;
  readonly ai_input: boolean | null;
  readonly ai_train: boolean | null;
}

/** Reads Content-Signal lines (contentsignals.org: comma-separated `name=yes|no`); the last word on a use counts. */
export function contentSignals(file: RobotsFile): ContentSignals {
  const said = new Map<string, boolean>();
  for (const { key, value } of file.unknown) {
    if (key.toLowerCase() !== "content-signal") continue;
    for (const part of value.slice(0, 1_000).split(/[,;]/)) {
      const [, name, word] = /^\s*([a-z-]{1,20})\s*=\s*(yes|no)\s*$/i.exec(part) ?? [];
      if (name !== undefined && word !== undefined) said.set(name.toLowerCase(), word.toLowerCase() === "yes");
    }
  }
  const of = (name: string): boolean | null => said.get(name) ?? null;
  return { search: of("search"), ai_input: of("ai-input"), ai_train: of("ai-train") };
}

/** The Content-Usage preference as written (IETF aipref, attachment in robots.txt); null without one. */
export function contentUsage(file: RobotsFile): string | null {
  const line = file.unknown.find(({ key }) => key.toLowerCase() === "content-usage");
  return line === undefined ? null : line.value.slice(0, 200);
}
