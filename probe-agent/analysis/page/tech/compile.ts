import { isRecord } from "#shared/text/is-record.ts";
import { LiteralIndex } from "#probe-agent/analysis/page/tech/literal-index.ts";
import { parsePattern, parseTaggedName, type Pattern } from "#probe-agent/analysis/page/tech/pattern.ts";
import type {
  ElementPart,
  NamedSource,
  PlainSource,
  Rule,
  RuleData,
  RuleTest,
  TechRules,
} from "#probe-agent/analysis/page/tech/rule.ts";
import { parseSelector } from "#probe-agent/analysis/page/tech/selector.ts";

type Fields = Readonly<Record<string, unknown>>;

const PLAIN: readonly (readonly [field: string, source: PlainSource])[] = [
  ["url", "url"],
  ["html", "html"],
  ["text", "text"],
  ["css", "css"],
  ["scriptSrc", "script_src"],
  // Name of the field in older rule sets.
  ["script", "script_src"],
  ["scripts", "script"],
  ["robots", "robots"],
  ["certIssuer", "certificate_issuer"],
  ["xhr", "xhr"],
];
const NAMED: readonly (readonly [field: string, source: NamedSource])[] = [
  ["headers", "header"],
  ["cookies", "cookie"],
  ["meta", "meta"],
  ["dns", "dns"],
];
/** DOM properties that reflect an attribute, so the page's source shows them. All others exist only in a browser. */
const REFLECTED = new Map([
  ["className", "class"],
  ["htmlFor", "for"],
  ...["id", "src", "href", "name", "title", "type", "lang", "content", "action", "alt"].map(
    (name) => [name, name] as const,
  ),
]);
const LIBRARY_FIELDS = [
  ["files", "script"],
  ["styles", "style"],
] as const;
const MAX_TEXT = 300;

/** Compiles rules. Leaves out and counts patterns that cannot be used, so that one bad line does not affect others. */
export function compileRules({ technologies, categories }: RuleData): TechRules {
  const compiler = new Compiler();
  const byName = new Map<string, Rule>();
  for (const [name, fields] of technologies) {
    if (isRecord(fields)) byName.set(name, compiler.rule(name, fields));
    else compiler.unusable += 1;
  }
  return {
    rules: [...byName.values()],
    byName,
    literals: new LiteralIndex(collectLiterals(byName.values())),
    categories: readCategories(categories),
    unusable: compiler.unusable,
  };
}

/** Yields the literals that patterns of whole sources require. */
function* collectLiterals(rules: Iterable<Rule>): Generator<string> {
  for (const { tests } of rules) {
    for (const test of tests) {
      if (!("name" in test) && test.source !== "dom" && test.source !== "library") yield* test.pattern.literals ?? [];
    }
  }
}

/** Converts a name to a URL path segment of lower-case letters, digits and hyphens. */
function toSlug(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return slug === "" ? "-" : slug;
}

function readCategories(entries: RuleData["categories"]): Map<number, string> {
  const names = new Map<number, string>();
  for (const [id, fields] of entries) {
    const name = isRecord(fields) ? fields["name"] : null;
    if (typeof name === "string" && /^\d{1,9}$/.test(id)) names.set(Number(id), name.slice(0, MAX_TEXT));
  }
  return names;
}

class Compiler {
  unusable = 0;

  rule(name: string, fields: Fields): Rule {
    const slug = fields["slug"];
    return {
      name: name.slice(0, MAX_TEXT),
      slug: typeof slug === "string" ? toSlug(slug) : toSlug(name),
      categories: integers(fields["cats"]),
      website: textOrNull(fields["website"]),
      cpe: textOrNull(fields["cpe"]),
      tests: [...this.#library(fields), ...this.#plain(fields), ...this.#named(fields), ...this.#dom(fields["dom"])],
      implies: texts(fields["implies"]).map(parseTaggedName),
      requires: texts(fields["requires"]),
      requiresCategories: integers(fields["requiresCategory"]),
      excludes: texts(fields["excludes"]).map((text) => parseTaggedName(text).name),
      least: integers(fields["least"])[0] ?? 1,
    };
  }

  *#plain(fields: Fields): Generator<RuleTest> {
    for (const [field, source] of PLAIN) {
      for (const pattern of this.#patterns(fields[field])) yield { source, pattern };
    }
  }

  *#named(fields: Fields): Generator<RuleTest> {
    for (const [field, source] of NAMED) {
      for (const [key, value] of this.#entries(fields[field])) {
        const name = source === "cookie" ? key : source === "dns" ? key.toUpperCase() : key.toLowerCase();
        for (const pattern of this.#patterns(value)) yield { source, name, pattern };
      }
    }
  }

  /**
   * Compiles the fields that Vantage adds to the format: `files` and `styles` are names of a library's scripts and
   * style sheets without version and build words, `packages` are names of its folder and of its packages in public
   * CDNs, and `plugin` is its folder among the WordPress plugins.
   */
  *#library(fields: Fields): Generator<RuleTest> {
    const packages = new Set(texts(fields["packages"]).map((name) => name.toLowerCase()));
    const full: Pattern = { regex: null, literals: null, version: "", confidence: 100 };
    for (const [field, kind] of LIBRARY_FIELDS) {
      for (const { name, confidence } of texts(fields[field]).map(parseTaggedName)) {
        const library = { kind, file: name.toLowerCase(), packages };
        if (confidence < 100) yield { source: "library", library: { ...library, together: true }, pattern: full };
        yield { source: "library", library: { ...library, together: false }, pattern: { ...full, confidence } };
      }
    }
    for (const plugin of texts(fields["plugin"])) {
      const library = { file: null, packages: new Set([`plugins/${plugin.toLowerCase()}`]), together: false };
      yield { source: "library", library: { ...library, kind: "script" }, pattern: full };
      yield { source: "library", library: { ...library, kind: "style" }, pattern: full };
    }
    if (packages.size > 0 && fields["files"] !== undefined) {
      yield { source: "library", library: { kind: "script", file: null, packages, together: false }, pattern: full };
    }
  }

  /** Compiles a selector, a list of selectors, or an object of selectors with what to find in their elements. */
  *#dom(value: unknown): Generator<RuleTest> {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof one === "string") yield* this.#element(one, { exists: "" });
      else for (const [selector, parts] of this.#entries(one)) yield* this.#element(selector, parts);
    }
  }

  *#element(selectorText: string, parts: unknown): Generator<RuleTest> {
    const selector = parseSelector(selectorText);
    if (selector === null) {
      this.unusable += 1;
      return;
    }
    for (const one of Array.isArray(parts) ? (parts as unknown[]) : [parts]) {
      for (const [part, pattern] of this.#parts(one)) yield { source: "dom", selector, selectorText, part, pattern };
    }
  }

  *#parts(value: unknown): Generator<readonly [ElementPart, Pattern]> {
    for (const [kind, wanted] of this.#entries(value)) {
      if (kind === "exists" || kind === "text") {
        for (const pattern of this.#patterns(wanted)) yield [kind === "text" ? "text" : null, pattern];
      } else if (kind === "attributes" || kind === "properties") {
        for (const [name, patterns] of this.#entries(wanted)) {
          const attribute = kind === "attributes" ? name.toLowerCase() : REFLECTED.get(name);
          if (attribute === undefined) continue;
          for (const pattern of this.#patterns(patterns)) yield [{ attribute }, pattern];
        }
      } else this.unusable += 1;
    }
  }

  *#patterns(value: unknown): Generator<Pattern> {
    if (value === undefined) return;
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const pattern = typeof one === "string" ? parsePattern(one) : null;
      if (pattern === null) this.unusable += 1;
      else yield pattern;
    }
  }

  #entries(value: unknown): [string, unknown][] {
    if (value === undefined) return [];
    if (isRecord(value)) return Object.entries(value);
    this.unusable += 1;
    return [];
  }
}

function texts(value: unknown): string[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.filter((one) => typeof one === "string");
}

function integers(value: unknown): number[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.filter((one) => Number.isSafeInteger(one)) as number[];
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_TEXT) : null;
}
