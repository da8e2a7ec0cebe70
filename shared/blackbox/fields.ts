import { isRawNumber } from "#shared/json/exact.ts";
import { nearestName } from "#shared/text/nearest-name.ts";
import { isRecord } from "#shared/text/is-record.ts";
import type { Path } from "#shared/json/yaml.ts";

/** Where a value is in the file, and where its faults go. */
export interface Spot {
  readonly path: Path;
  /** Records what is wrong with the value, as the rest of a sentence that begins with its name. */
  fault(message: string, path?: Path): void;
  /** Returns why a file that the option at this path names cannot be read; null if it can. */
  whyUnreadable(file: string, path: Path): string | null;
}

/** How the value of an option is read. After a fault, what is returned is not used. */
export interface Field<T> {
  /** `value` is never null. */
  read(value: unknown, spot: Spot): T;
  /** The value of an option that is not written. */
  readonly absent: T;
}

/** A field for each option of a section. */
type Fields = Readonly<Record<string, Field<unknown>>>;
type ValuesOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** Text; numbers and truth values are taken as they are written. */
export function text<T extends string | null>(absent: T): Field<string | T> {
  return {
    absent,
    read(value, spot) {
      const found = asText(value);
      if (found === null) spot.fault("must be text");
      return found ?? "";
    },
  };
}

function asText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return isRawNumber(value) ? value.rawJSON : null;
}

/** true or false. */
export function flag<T extends boolean | null>(absent: T): Field<boolean | T> {
  return {
    absent,
    read(value, spot) {
      if (typeof value !== "boolean") spot.fault("must be true or false");
      return value === true;
    },
  };
}

/** A whole number. */
export function whole(least: number, most: number, absent: number): Field<number> {
  return {
    absent,
    read(value, spot) {
      const isGood = typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
      if (!isGood) spot.fault(`must be a whole number from ${least} to ${most}`);
      return isGood ? value : least;
    },
  };
}

/** One of a few words. */
export function choice<const W extends string, T extends W | null>(words: readonly W[], absent: T): Field<W | T> {
  return {
    absent,
    read(value, spot) {
      const found = words.find((word) => word === value);
      if (found === undefined) spot.fault(`must be ${words.map((word) => (word === "" ? '""' : word)).join(" or ")}`);
      return found ?? absent;
    },
  };
}

/** A text that `parse` turns into something else; it returns undefined for what is not `allowed`. */
export function parsed<T, A>(allowed: string, parse: (text: string) => T | undefined, absent: A): Field<T | A> {
  return {
    absent,
    read(value, spot) {
      const found = asText(value);
      const result = found === null ? undefined : parse(found);
      if (result === undefined) spot.fault(`must be ${allowed}`);
      return result ?? absent;
    },
  };
}

/** A list, one entry where a list is meant. `most` bounds it. */
export function list<T>(of: Field<T>, most = 1000): Field<readonly T[]> {
  return {
    absent: [],
    read(value, spot) {
      if (!Array.isArray(value)) {
        spot.fault("must be a list");
        return [];
      }
      if (value.length > most) spot.fault(`must have at most ${most} entries`);
      return value.slice(0, most).map((item: unknown, index) => readAt(of, item, spot, index));
    },
  };
}

/** Names that the file chooses, each with a value. */
export function named<T>(of: Field<T>, most = 1000): Field<Readonly<Record<string, T>>> {
  return {
    absent: {},
    read(value, spot) {
      if (!isRecord(value)) {
        spot.fault("must be names with values");
        return {};
      }
      const names = Object.keys(value);
      if (names.length > most) spot.fault(`must have at most ${most} names`);
      return Object.fromEntries(names.slice(0, most).map((name) => [name, readAt(of, value[name], spot, name)]));
    },
  };
}

/** An option that is known and cannot be honoured. `advice` says what to do. */
export function unsupported(advice: string): Field<null> {
  return {
    absent: null,
    read(_value, spot) {
      spot.fault(`is not supported: ${advice}`);
      return null;
    },
  };
}

/** Options with fixed names. `check` finds faults between them, and turns them into what probers use. */
export function section<F extends Fields, T>(
  fields: F,
  check: (values: ValuesOf<F>, spot: Spot, given: ReadonlySet<string>) => T,
): Field<T> {
  const read = (value: unknown, spot: Spot): T => {
    const record = isRecord(value) ? value : {};
    if (!isRecord(value)) spot.fault("must be options with values");
    const given = new Set(Object.keys(record).filter((name) => record[name] !== null));
    for (const name of given) if (!Object.hasOwn(fields, name)) refuseName(name, Object.keys(fields), spot);
    const values = Object.entries(fields).map(([name, field]) => {
      return [name, given.has(name) ? readAt(field, record[name], spot, name) : field.absent];
    });
    return check(Object.fromEntries(values) as ValuesOf<F>, spot, given);
  };
  const nowhere: Spot = { path: [], fault: () => {}, whyUnreadable: () => null };
  return { absent: read({}, nowhere), read };
}

/** A section that is null where it is not written. */
export function optional<T>(field: Field<T>): Field<T | null> {
  return { absent: null, read: (value, spot) => field.read(value, spot) };
}

function refuseName(name: string, known: readonly string[], spot: Spot): void {
  const nearest = nearestName(name, known);
  const meant = nearest === null ? `the options here are ${known.join(", ")}` : `did you mean ${nearest}?`;
  spot.fault(`is no option: ${meant}`, [...spot.path, name]);
}

function readAt<T>(field: Field<T>, value: unknown, spot: Spot, step: string | number): T {
  if (value === null || value === undefined) return field.absent;
  const path = [...spot.path, step];
  return field.read(value, { ...spot, path, fault: (message, other) => spot.fault(message, other ?? path) });
}
