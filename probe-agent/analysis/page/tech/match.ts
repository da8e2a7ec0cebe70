import type { EvidenceType } from "#shared/tools/tech-detect/evidence.ts";
import type { Element } from "domhandler";
import { textOf } from "#probe-agent/analysis/html/document.ts";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import { resolveVersion, type Pattern } from "#probe-agent/analysis/page/tech/pattern.ts";
import type { RuleTest } from "#probe-agent/analysis/page/tech/rule.ts";
import type { Subject } from "#probe-agent/analysis/page/tech/subject.ts";

/** What one test found. */
export interface Match {
  readonly type: EvidenceType;
  /** What was seen, bounded and without control characters. */
  readonly match: string;
  readonly version: string | null;
}

/** Characters of a match shown, and of one that is part of something longer. */
const MAX_SHOWN = 160;
/** Longer values are shown only where they fit. */
const MAX_WHOLE = 120;
/** Elements of one selector whose attributes or text are looked at. */
const MAX_ELEMENTS = 200;
/** Sources whose values are short enough to be shown whole. */
const WHOLE = new Set<EvidenceType>(["url", "script_src", "certificate_issuer", "xhr"]);

/** Holds one test against a page; the versions of several fitting values may differ, so each is given. */
export function* runTest(test: RuleTest, subject: Subject): Generator<Match> {
  if (test.source === "dom") yield* runDom(test, subject);
  else if (test.source === "library") yield* runLibrary(test, subject);
  else if ("name" in test) {
    for (const [name, values] of namedValues(test, subject)) {
      const label = (value: string, found: string): string =>
        test.source === "cookie" ? name : `${name}: ${value.length <= MAX_WHOLE ? value : found}`;
      for (const value of values) yield* hold(test.pattern, value, test.source, label);
    }
  } else {
    const { literals } = test.pattern;
    if (literals !== null && !subject.holdsAny(test.source, literals)) return;
    const whole = WHOLE.has(test.source);
    for (const value of subject.plain[test.source]) {
      yield* hold(test.pattern, value, test.source, (_, found) => (whole ? value : found));
    }
  }
}

function* runLibrary(
  { library }: Extract<RuleTest, { readonly source: "library" }>,
  { assets }: Subject,
): Generator<Match> {
  const type = library.kind === "script" ? "script_src" : "dom";
  for (const [{ address }, version] of assets.find(library)) {
    yield { type, match: shown(type === "dom" ? `link href="${address}"` : address), version };
  }
}

function* hold(
  { regex, version }: Pattern,
  value: string,
  type: EvidenceType,
  label: (value: string, found: string) => string,
): Generator<Match> {
  if (regex === null) {
    yield { type, match: shown(label(value, value)), version: resolveVersion(version, []) };
    return;
  }
  const groups = regex.exec(value);
  if (groups === null) return;
  yield { type, match: shown(label(value, groups[0])), version: resolveVersion(version, groups) };
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
  return [...values].filter(([one]) => fitsWildcard(one, parts));
}

/** Whether the name consists of the parts with anything between them. */
function fitsWildcard(name: string, parts: readonly string[]): boolean {
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
    if (value !== null) yield* hold(pattern, value, "dom", (_, found) => domLabel(selectorText, part, found));
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

function shown(text: string): string {
  const clean = text
    .slice(0, MAX_SHOWN * 2)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  return clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN - 1)}…` : clean;
}
