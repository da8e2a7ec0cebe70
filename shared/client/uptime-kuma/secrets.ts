import type { Secret } from "#shared/client/uptime-kuma/context.ts";

/** A variable of the environment that an apply of the document needs. */
export interface Variable {
  readonly name: string;
  /** Monitor and field whose value it is. */
  readonly monitor: string;
  readonly field: string;
  /** What the value is; null: that of Uptime Kuma. */
  readonly hint: string | null;
}

/** The secrets of a document. */
interface Secrets {
  /** Every variable so far. */
  readonly variables: readonly Variable[];
  /** Returns what the document has for a secret of a monitor. */
  add(secret: Omit<Variable, "name">, value: string): Secret;
}

/**
 * Each variable begins so: a backup of another party cannot name a variable that the user has for something else, which
 * an apply would send to a server of that party.
 */
const PREFIX = "KUMA";
/** Longest part of a name that comes from the backup, characters. */
const LONGEST_PART = 40;

/** Collects secrets. With `isIncluded`, the document has their values, and there are no variables. */
export function createSecrets(isIncluded: boolean): Secrets {
  const variables: Variable[] = [];
  const counts = new Map<string, number>();
  return {
    variables,
    add(secret, value) {
      if (isIncluded) return value;
      const parts = [PREFIX, secret.monitor, secret.field.replace("request_headers.", "")].map(toWord);
      const base = parts.filter((part) => part !== "").join("_");
      const count = (counts.get(base) ?? 0) + 1;
      counts.set(base, count);
      // Two underscores: no name without a number has them.
      const name = count === 1 ? base : `${base}__${count}`;
      variables.push({ ...secret, name });
      return { env: name };
    },
  };
}

function toWord(text: string): string {
  const words = text
    .slice(0, LONGEST_PART)
    .normalize("NFKD")
    .toUpperCase()
    .split(/[^A-Z0-9]/)
    .filter((word) => word !== "");
  const word = words.join("_").slice(0, LONGEST_PART);
  return word.endsWith("_") ? word.slice(0, -1) : word;
}
