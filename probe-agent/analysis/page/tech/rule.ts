import type { LibraryTest } from "#probe-agent/analysis/page/tech/library.ts";
import type { LiteralIndex } from "#probe-agent/analysis/page/tech/literal-index.ts";
import type { Pattern, TaggedName } from "#probe-agent/analysis/page/tech/pattern.ts";
import type { Selector } from "#probe-agent/analysis/page/tech/selector.ts";

/** Sources that a rule tests with a pattern or a list of patterns. */
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
/** Sources of named values, which a rule tests with patterns by name. */
export type NamedSource = "header" | "cookie" | "meta" | "dns";
/** Part of an element that a pattern is tested on. null tests only that the element exists. */
export type ElementPart = { readonly attribute: string } | "text" | null;

/** One test of a rule. */
export type RuleTest =
  | { readonly source: PlainSource; readonly pattern: Pattern }
  | {
      readonly source: NamedSource;
      /**
       * Lower case for headers and meta elements, upper case for DNS types. A cookie name can contain `*` for any text.
       */
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

/** A technology and the tests that detect it. */
export interface Rule {
  readonly name: string;
  readonly slug: string;
  readonly categories: readonly number[];
  readonly website: string | null;
  readonly cpe: string | null;
  readonly tests: readonly RuleTest[];
  readonly implies: readonly TaggedName[];
  /** Technologies, one of which must be found before this rule is tested. Empty if none is required. */
  readonly requires: readonly string[];
  /** Categories, a technology of one of which has the same effect as `requires`. */
  readonly requiresCategories: readonly number[];
  /** Technologies that are never found together with this one. */
  readonly excludes: readonly string[];
  /**
   * Minimum confidence of all evidence together, in percent, for the technology to count as found. One weak sign alone
   * can be caused by something else.
   */
  readonly least: number;
}

/** Compiled rules. */
export interface TechRules {
  readonly rules: readonly Rule[];
  readonly byName: ReadonlyMap<string, Rule>;
  /** Index of the texts that expressions of the rules require. */
  readonly literals: LiteralIndex;
  /** Names of categories by id. */
  readonly categories: ReadonlyMap<number, string>;
  /** Number of patterns and selectors that cannot be used. The rest of their rules is in effect. */
  readonly unusable: number;
}

/** Rules as in files: entries of the format's JSON objects. Plain data that can be sent to another thread. */
export interface RuleData {
  readonly technologies: readonly (readonly [name: string, fields: unknown])[];
  readonly categories: readonly (readonly [id: string, fields: unknown])[];
}
