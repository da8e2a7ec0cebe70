import type { Element } from "domhandler";

/** A thing described by a page, as microdata and RDFa give it. */
export interface StructuredItem {
  /** Full addresses of its types, e.g. https://schema.org/Event; empty where it has none. */
  readonly type: readonly string[];
  /** Its own address; absent where it has none. */
  readonly id?: string;
  /** By name as written, each with its values in document order. */
  readonly properties: Readonly<Record<string, readonly StructuredValue[]>>;
}

/** Text, an address, or a thing of its own. */
export type StructuredValue = string | StructuredItem;

/** A fault of the markup. `position` counts characters from the start of the page. */
export interface StructuredError {
  readonly message: string;
  readonly position: number;
  /** The block could not be read for this fault; absent where it was read over. */
  readonly lost?: true;
}

/** A fault with the syntax it is in, and whether it cost the whole block. */
export interface LocatedFault extends Omit<StructuredError, "lost"> {
  readonly syntax: "json-ld" | "microdata" | "rdfa";
  readonly lost: boolean;
}

/** Something with the place in the page where it begins, in characters. */
export interface Located<T> {
  readonly value: T;
  readonly offset: number;
}

/** What one syntax gave. */
export interface Found<T> {
  readonly items: readonly Located<T>[];
  readonly errors: readonly StructuredError[];
}

/** How large a page is: what may be spent on reading it grows with it. */
export interface PageSize {
  readonly characters: number;
  readonly elements: number;
}

/**
 * Characters of text read of a page, at most 8 million. Texts of properties within properties are read again and again:
 * sixteen times over is more than any honest page asks for.
 */
export function textBudget({ characters }: PageSize): number {
  return Math.min(8_000_000, 100_000 + 16 * characters);
}

/** Characters kept of one text value. */
export const MAX_VALUE_LENGTH = 1_000_000;

/** An attribute as written, null where absent. */
export function writtenAttribute(element: Element, name: string): string | null {
  return Object.hasOwn(element.attribs, name) ? (element.attribs[name] ?? "") : null;
}

/** The words of an attribute (HTML, unordered set of unique space-separated tokens). */
export function wordsOf(element: Element, name: string): string[] {
  const value = writtenAttribute(element, name);
  if (value === null || value === "") return [];
  if (!/[\t\n\f\r ]/.test(value)) return [value];
  return [...new Set(value.split(/[\t\n\f\r ]+/).filter((word) => word !== ""))];
}
