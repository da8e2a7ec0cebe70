import { detect } from "#test/entry-points.ts";
import { readdirSync, readFileSync } from "node:fs";
import { compileRules } from "#probe-agent/analysis/page/tech/compile.ts";
import type { TechRules } from "#probe-agent/analysis/page/tech/rule.ts";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import { openTechRules } from "#probe-agent/data/tech-rules.ts";

/** A page of the corpus with the technologies that it embeds according to its vendors' manuals. */
export interface LabelledPage {
  readonly name: string;
  readonly page: TechPage;
  /** Technologies with evidence on the page, and the version it shows; null if it shows none. */
  readonly uses: ReadonlyMap<string, string | null>;
  /** Look-alikes that the page does not use. */
  readonly never: readonly string[];
  /** Every third page is held out: rules are not written or changed after looking at the results there. */
  readonly heldOut: boolean;
}

/** Result of comparing the technologies found on pages with their labels. */
export interface Score {
  readonly found: number;
  readonly missed: readonly string[];
  readonly wrong: readonly string[];
  /** Found versions that differ from the label's, as "page: name found, expected". */
  readonly wrongVersions: readonly string[];
  /**
   * Share of the found technologies that are on the page, and share of those on the page that were found, in percent.
   */
  readonly precision: number;
  readonly recall: number;
}

const FOLDER = new URL("../fixtures/tech/", import.meta.url);
/** A label ends in a version if the last word has a digit, or is a version word of Google Analytics. */
const LABEL = /^(.+?)(?: (\d[\w.]*|UA|GA4))?$/;
/** Names whose last word looks like a version. */
const WHOLE_NAMES = new Set(["Contact Form 7", "Microsoft 365", "Amazon Route 53"]);

/** Reads all pages of the corpus. Form: a line `%%% name`, lines `key: value`, a line `%%%`, the HTML. */
export function readCorpus(): LabelledPage[] {
  const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".txt"))
    .toSorted();
  const texts = files.flatMap((file) =>
    readFileSync(new URL(file, FOLDER), "utf8")
      .split(/^%%% /m)
      .slice(1)
      .map((text) => ({ kind: file.replace(".txt", ""), text })),
  );
  return texts.map(({ kind, text }, index) => readPage(kind, text, index % 3 === 2));
}

function readPage(kind: string, text: string, heldOut: boolean): LabelledPage {
  const [head = "", html = ""] = text.split(/^%%%$/m);
  const [title = "", ...lines] = head.trim().split("\n");
  const values = (key: string): string =>
    lines
      .find((line) => line.startsWith(`${key}:`))
      ?.slice(key.length + 1)
      .trim() ?? "";
  const list = (key: string): string[] =>
    values(key)
      .split(/; */)
      .filter((one) => one !== "");
  const [, name = "", value = ""] = /^([\w-]+): (.+)$/.exec(values("headers")) ?? [];
  return {
    name: `${kind}: ${title}`,
    page: {
      url: "https://www.site.example/",
      html: html.trimStart(),
      headers: name === "" || name === "set-cookie" ? [] : [[name, value]],
      cookies: name === "set-cookie" ? Object.fromEntries([value.split("=", 2) as [string, string]]) : {},
    },
    uses: new Map(list("uses").map(readLabel)),
    never: list("never"),
    heldOut,
  };
}

function readLabel(label: string): [string, string | null] {
  const [, name = label, version = null] = LABEL.exec(label) ?? [];
  const whole = `${name} ${version?.split(" ", 1)[0] ?? ""}`;
  return WHOLE_NAMES.has(whole) ? [whole, null] : [name, version];
}

/** Returns the built-in rules. */
export function builtInRules(): TechRules {
  const opened = openTechRules(null);
  if (!opened.ok) throw new Error(opened.line);
  return compileRules(opened.data);
}

/** What was seen on the pages, by rules: every technology is scored on the same pages. */
const seenBefore = new WeakMap<TechRules, WeakMap<TechPage, ReadonlyMap<string, string | null>>>();

/**
 * Returns what a page itself shows, with versions, without technologies that only follow from others. Searches a page
 * once for the same rules.
 */
export function seenOn({ page }: LabelledPage, rules: TechRules): ReadonlyMap<string, string | null> {
  const byPage = seenBefore.get(rules) ?? new WeakMap<TechPage, ReadonlyMap<string, string | null>>();
  seenBefore.set(rules, byPage);
  const before = byPage.get(page);
  if (before !== undefined) return before;
  const found = detect(page, rules).filter((one) => one.implied_by === null);
  const seen = new Map(found.map(({ name, version }) => [name, version]));
  byPage.set(page, seen);
  return seen;
}

/** Compares what is found on pages with their labels. `only` limits the score to one technology. */
export function scorePages(pages: readonly LabelledPage[], rules: TechRules, only?: string): Score {
  const missed: string[] = [];
  const wrong: string[] = [];
  const wrongVersions: string[] = [];
  let found = 0;
  const counts = (name: string): boolean => only === undefined || name === only;
  for (const labelled of pages) {
    const seen = seenOn(labelled, rules);
    for (const [name, version] of labelled.uses) {
      if (!counts(name)) continue;
      const shown = seen.get(name);
      if (shown === undefined) missed.push(`${labelled.name}: ${name}`);
      else found += 1;
      if (shown !== undefined && shown !== version) {
        wrongVersions.push(`${labelled.name}: ${name} ${shown ?? "none"}, expected ${version ?? "none"}`);
      }
    }
    for (const name of seen.keys())
      if (counts(name) && !labelled.uses.has(name)) wrong.push(`${labelled.name}: ${name}`);
  }
  return {
    found,
    missed,
    wrong,
    wrongVersions,
    precision: percent(found, found + wrong.length),
    recall: percent(found, found + missed.length),
  };
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.round((1000 * part) / whole) / 10;
}
