import { hiddenProblem } from "#shared/text/hidden-characters.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { cutLine, toPlainLine } from "#shared/text/plain-line.ts";

/** A monitor or another object of a backup. Nothing is known about its values. */
export type Source = Readonly<Record<string, unknown>>;

/** Why a monitor has no counterpart: the end of a sentence. */
export interface NotTaken {
  readonly ok: false;
  readonly why: string;
}

/** Returns a text of an object, a number as its digits; "" if it has none. Half surrogate pairs are replaced. */
export function textOf(source: Source, name: string): string {
  const value = valueOf(source, name);
  if (typeof value === "string") return value.toWellFormed();
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}

/** Returns a number of an object, also from its decimal digits; null if it has none that is finite. */
export function numberOf(source: Source, name: string): number | null {
  const value = valueOf(source, name);
  const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

/** Reports whether a setting is on: databases have 1 for true. */
export function flagOf(source: Source, name: string): boolean {
  const value = valueOf(source, name);
  return value === true || value === 1 || value === "1" || value === "true";
}

/** Returns a list of an object; empty if it has none. */
export function listOf(source: Source, name: string): readonly unknown[] {
  const value = valueOf(source, name);
  return Array.isArray(value) ? value : [];
}

/** Returns a list of objects, or those of an object by their ids; null if it has neither. What is no object is {}. */
export function objectsOf(source: Source, name: string): readonly Source[] | null {
  const value = valueOf(source, name);
  const items = Array.isArray(value) ? (value as readonly unknown[]) : isRecord(value) ? Object.values(value) : null;
  return items?.map((item) => (isRecord(item) ? item : {})) ?? null;
}

function valueOf(source: Source, name: string): unknown {
  return Object.hasOwn(source, name) ? source[name] : undefined;
}

/** Returns text as the name of something can be: one line of visible characters, at most `most` UTF-16 code units. */
export function toName(text: string, most: number): string {
  const visible = Array.from(toPlainLine(text, most)).filter((character) => hiddenProblem(character) === null);
  return cutLine(visible.join("").trim(), most);
}

/** Characters of a text of the backup that a line shows. */
const LONGEST_SHOWN = 60;

/** Quotes a text of the backup for a line. */
export function quoteName(text: string): string {
  return JSON.stringify(toName(text, LONGEST_SHOWN));
}
