import type { Kind } from "#shared/settings/kind.ts";

const NO_CONTROL = /^[^\p{Cc}]+$/u;

/** Text that matches a pattern. */
export function text(allowed: string, pattern: RegExp = NO_CONTROL): Kind<string> {
  return { allowed, parse: (value) => (pattern.test(value) ? value : undefined) };
}

/** One of a few words. */
export function choice<const W extends string>(...words: readonly W[]): Kind<W> {
  return { allowed: words.join(", "), parse: (value) => words.find((word) => word === value) };
}

/** A whole number in decimal digits. */
export function integer(min: number, max: number): Kind<number> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse(value) {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
  };
}

/** A comma-separated list of one kind: 1 to 100 items, none empty; blanks around items are ignored. */
export function list<T>(item: Kind<T>, what: string): Kind<readonly T[]> {
  return {
    allowed: `a comma-separated list of ${what}`,
    parse(value) {
      const parsed = value.split(",", 101).map((part) => (part.trim() === "" ? undefined : item.parse(part.trim())));
      return parsed.length > 100 || parsed.includes(undefined) ? undefined : (parsed as T[]);
    },
  };
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in whole milliseconds: a number (a decimal fraction is allowed) and ms, s, m, h or d. */
export function duration(minMs: number, maxMs: number, range: string): Kind<number> {
  return {
    allowed: `a number and ms, s, m, h or d (${range})`,
    parse(value) {
      const match = /^(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h|d)$/.exec(value);
      const ms = match ? Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]) : -1;
      return ms >= minMs && ms <= maxMs ? ms : undefined;
    },
  };
}

/** A duration in whole days and a number of failures, such as 5d/20. Its time is in milliseconds. */
export const daysAndFailures: Kind<{ readonly ms: number; readonly failures: number }> = {
  allowed: "days and failures such as 5d/20 (1d to 365d, 1 to 1000000)",
  parse(value) {
    const match = /^(\d{1,3})d\/(\d{1,7})$/.exec(value);
    if (match === null) return undefined;
    const [days, failures] = match.slice(1).map(Number) as [number, number];
    const isAllowed = days >= 1 && days <= 365 && failures >= 1 && failures <= 1_000_000;
    return isAllowed ? { ms: days * UNIT_MS.d, failures } : undefined;
  },
};

/** An ISO 8601 date (midnight UTC) or date and time with zone, as RFC 3339 writes it. */
export const instant: Kind<Date> = {
  allowed: "an ISO 8601 time such as 2026-10-01T00:00:00Z",
  parse(value) {
    const match = /^(\d{4})-(\d\d)-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(value);
    if (!match) return undefined;
    const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
    // Date converts 30 February to a day in March instead of rejecting it.
    const calendar = new Date(Date.UTC(year, month - 1, day));
    if (calendar.getUTCMonth() !== month - 1 || calendar.getUTCDate() !== day) return undefined;
    const time = new Date(value);
    return Number.isNaN(time.getTime()) ? undefined : time;
  },
};

/** The path of a file or directory; its existence is not checked here. */
export function path(what: string): Kind<string> {
  return text(`the path of ${what}`, /^[^\p{Cc}]{1,4096}$/u);
}

/** A secret of 32 bytes in base64. */
export const base64Key: Kind<Uint8Array> = {
  allowed: "32 bytes in base64 (openssl rand -base64 32)",
  parse: (value) => (/^[A-Za-z0-9+/]{43}=?$/.test(value) ? Buffer.from(value, "base64") : undefined),
};
