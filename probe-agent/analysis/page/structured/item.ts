import type { Element } from "domhandler";

/** An item of structured data in microdata or RDFa. */
export interface StructuredItem {
  /** Full addresses of its types, e.g. https://schema.org/Event. Empty if it has no type. */
  readonly type: readonly string[];
  /** Address of the item itself. Absent if it has none. */
  readonly id?: string;
  /** Values in document order, keyed by the name of the property. */
  readonly properties: Readonly<Record<string, readonly StructuredValue[]>>;
}

/** Value of a property: a text, an address or an item. */
export type StructuredValue = string | StructuredItem;

/** A fault of the markup. `position` is in characters from the start of the page. */
export interface StructuredError {
  readonly message: string;
  readonly position: number;
  /** Present if the fault made the whole block unreadable. Absent if reading continued. */
  readonly lost?: true;
}

/** A fault with the syntax of the markup. `lost`: whether the whole block was unreadable. */
export interface LocatedFault extends Omit<StructuredError, "lost"> {
  readonly syntax: "json-ld" | "microdata" | "rdfa";
  readonly lost: boolean;
}

/** A value and its position in the page. `offset` is in characters from the start of the page. */
export interface Located<T> {
  readonly value: T;
  readonly offset: number;
}

/** Items and faults of a page in one syntax. */
export interface Found<T> {
  readonly items: readonly Located<T>[];
  readonly errors: readonly StructuredError[];
}

/** Size of a page. The limits on the work of reading a page grow with its size. */
export interface PageSize {
  readonly characters: number;
  readonly elements: number;
}

/**
 * Returns the maximum number of text characters read from a page, up to 8 million. The text of nested properties is
 * read once for each level. No honest page needs more than 16 times its size.
 */
export function textBudget({ characters }: PageSize): number {
  return Math.min(8_000_000, 100_000 + 16 * characters);
}

/** Maximum number of characters kept of one text value. */
export const MAX_VALUE_LENGTH = 1_000_000;

/** Returns the unchanged value of an attribute, or null if the attribute is absent. */
export function rawAttribute(element: Element, name: string): string | null {
  return Object.hasOwn(element.attribs, name) ? (element.attribs[name] ?? "") : null;
}

/** Returns the tokens of an attribute (HTML, unordered set of unique space-separated tokens). */
export function attributeTokens(element: Element, name: string): string[] {
  const value = rawAttribute(element, name);
  if (value === null || value === "") return [];
  if (!/[\t\n\f\r ]/.test(value)) return [value];
  return [...new Set(value.split(/[\t\n\f\r ]+/).filter((word) => word !== ""))];
}
