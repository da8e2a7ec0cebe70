import type { EvidenceType } from "#shared/tools/tech-detect/contract.ts";
import type { Element } from "domhandler";
import { textOf } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import { resolveVersion, type Pattern } from "#probe-agent/analysis/page/tech/pattern.ts";
import type { RuleTest } from "#probe-agent/analysis/page/tech/rule.ts";
import type { Subject } from "#probe-agent/analysis/page/tech/subject.ts";

/** One match of a test. */
export interface Match {
  readonly type: EvidenceType;
  /** Matched text, up to 160 characters, without control characters. */
  readonly match: string;
  readonly version: string | null;
}

/** Maximum length of a match in the result, in characters. */
const MAX_SHOWN = 160;
/** Maximum length of a header, meta or DNS value that is shown whole. Of a longer value only the match is shown. */
const MAX_WHOLE = 120;
/** Maximum number of elements of one selector whose attributes or text are tested. */
const MAX_ELEMENTS = 200;
/** Sources whose values are short enough to be shown whole. */
const WHOLE = new Set<EvidenceType>(["url", "script_src", "certificate_issuer", "xhr"]);

/** Runs one test on a page. Yields a match for each matching value, because their versions can differ. */
export function* runTest(test: RuleTest, subject: Subject): Generator<Match> {
  if (test.source === "dom") yield* runDom(test, subject);
  else if (test.source === "library") yield* runLibrary(test, subject);
  else if ("name" in test) {
    for (const [name, values] of namedValues(test, subject)) {
      const label = (value: string, found: string): string =>
        test.source === "cookie" ? name : `${name}: ${value.length <= MAX_WHOLE ? value : found}`;
      for (const value of values) yield* matchPattern(test.pattern, value, test.source, label);
    }
  } else {
    const { literals } = test.pattern;
    if (literals !== null && !subject.mayContainAny(test.source, literals)) return;
    const whole = WHOLE.has(test.source);
    for (const value of subject.plain[test.source]) {
      yield* matchPattern(test.pattern, value, test.source, (_, found) => (whole ? value : found));
    }
  }
}

function* runLibrary(
  { library }: Extract<RuleTest, { readonly source: "library" }>,
  { assets }: Subject,
): Generator<Match> {
  const type = library.kind === "script" ? "script_src" : "dom";
  for (const [{ address }, version] of assets.find(library)) {
    yield { type, match: cleanMatch(type === "dom" ? `link href="${address}"` : address), version };
  }
}

function* matchPattern(
  { regex, version }: Pattern,
  value: string,
  type: EvidenceType,
  label: (value: string, found: string) => string,
): Generator<Match> {
  if (regex === null) {
    yield { type, match: cleanMatch(label(value, value)), version: resolveVersion(version, []) };
    return;
  }
  const groups = regex.exec(value);
  if (groups === null) return;
  yield { type, match: cleanMatch(label(value, groups[0])), version: resolveVersion(version, groups) };
}

function namedValues(
  { source, name }: Extract<RuleTest, { readonly name: string }>,
  subject: Subject,
): Iterable<readonly [string, readonly string[]]> {
  const values = subject.named[source];
  const parts = name.split("*");
  if (source !== "cookie" || parts.length === 1) {
    const found = values.get(name);
    return found === undefined ? [] : [[name, found]];
  }
  return [...values].filter(([one]) => matchesWildcard(one, parts));
}

/** Reports whether a name consists of the parts with any text between them. */
function matchesWildcard(name: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  const end = name.length - last.length;
  if (!name.startsWith(first) || !name.endsWith(last) || end < first.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

function* runDom(test: Extract<RuleTest, { readonly source: "dom" }>, { elements }: Subject): Generator<Match> {
  const { selector, selectorText, part, pattern } = test;
  for (const element of elements.find(selector, part === null ? 1 : MAX_ELEMENTS)) {
    const value = valueOf(element, part);
    if (value !== null) yield* matchPattern(pattern, value, "dom", (_, found) => domLabel(selectorText, part, found));
  }
}

function valueOf(element: Element, part: Extract<RuleTest, { readonly source: "dom" }>["part"]): string | null {
  if (part === null) return "";
  return part === "text" ? textOf(element) : (attribute(element, part.attribute)?.slice(0, 8192) ?? null);
}

function domLabel(
  selector: string,
  part: Extract<RuleTest, { readonly source: "dom" }>["part"],
  found: string,
): string {
  if (part === null) return selector;
  return part === "text" ? `${selector} ${found}` : `${selector} ${part.attribute}="${found}"`;
}

function cleanMatch(text: string): string {
  const clean = text
    .slice(0, MAX_SHOWN * 2)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  return clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN - 1)}…` : clean;
}
