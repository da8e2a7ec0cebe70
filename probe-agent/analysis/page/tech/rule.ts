import type { LibraryTest } from "#probe-agent/analysis/page/tech/library.ts";
import type { LiteralIndex } from "#probe-agent/analysis/page/tech/literal-index.ts";
import type { Pattern, TaggedName } from "#probe-agent/analysis/page/tech/pattern.ts";
import type { Selector } from "#probe-agent/analysis/page/tech/selector.ts";

/** Fields of the format that hold a pattern or a list of them. */
export type PlainSource =
  | "url"
  | "html"
  | "text"
  | "css"
  | "script_src"
  | "script"
  | "robots"
  | "certificate_issuer"
  | "xhr";
/** Fields of the format that hold patterns by name. */
export type NamedSource = "header" | "cookie" | "meta" | "dns";
/** What of an element a pattern is held against; null: that it is there. */
export type ElementPart = { readonly attribute: string } | "text" | null;

/** One thing to look for. */
export type RuleTest =
  | { readonly source: PlainSource; readonly pattern: Pattern }
  | {
      readonly source: NamedSource;
      /** Lower case but for cookies; a cookie's may hold `*` for anything. */
      readonly name: string;
      readonly pattern: Pattern;
    }
  | { readonly source: "library"; readonly library: LibraryTest; readonly pattern: Pattern }
  | {
      readonly source: "dom";
      readonly selector: Selector;
      readonly selectorText: string;
      readonly part: ElementPart;
      readonly pattern: Pattern;
    };

/** A technology and how it is told. */
export interface Rule {
  readonly name: string;
  readonly slug: string;
  readonly categories: readonly number[];
  readonly website: string | null;
  readonly cpe: string | null;
  readonly tests: readonly RuleTest[];
  readonly implies: readonly TaggedName[];
  /** Looked for only where one of these was found. */
  readonly requires: readonly string[];
  readonly requiresCategories: readonly number[];
  /** Never found together with these. */
  readonly excludes: readonly string[];
  /** Found only where its evidence adds up to this, percent: what one weak sign shows may be something else. */
  readonly least: number;
}

/** Rules ready for use. */
export interface TechRules {
  readonly rules: readonly Rule[];
  readonly byName: ReadonlyMap<string, Rule>;
  /** The texts without which expressions of the rules fit nothing. */
  readonly literals: LiteralIndex;
  /** Names by id. */
  readonly categories: ReadonlyMap<number, string>;
  /** Patterns and selectors that cannot be used; the rest of their rules holds. */
  readonly unusable: number;
}

/** Rules as they stand in files: entries of the format's JSON objects. Plain data, for another thread too. */
export interface RuleData {
  readonly technologies: readonly (readonly [name: string, fields: unknown])[];
  readonly categories: readonly (readonly [id: string, fields: unknown])[];
}
