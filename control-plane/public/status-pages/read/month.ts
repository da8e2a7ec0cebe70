/** A UTC month of a page's archive. */
export interface Month {
  /** YYYY-MM. */
  readonly name: string;
  readonly from: Date;
  /** Beginning of the next month. */
  readonly to: Date;
  /** The month before; null: the archive has none. */
  readonly previous: string | null;
  /** The month after; null if it has not begun. */
  readonly next: string | null;
}

const FORM = /^\d{4}-(?:0[1-9]|1[0-2])$/;
/** Months of an archive. Past maintenance is kept for two years. */
const MOST_MONTHS = 24;
/** A page shows what was going on up to 14 days before its creation. */
const BEFORE_MS = 14 * 86_400_000;

/**
 * Returns a month of the archive of a page by its name; without a name the running one. null: the archive does not have
 * it: it has not begun, or it was before the page and its first 14 days, or more than 24 months ago.
 */
export function monthOf(name: string | null, createdAt: Date, now: Date): Month | null {
  const newest = nameOf(now);
  const oldest = nameOf(new Date(createdAt.getTime() - BEFORE_MS));
  const bound = nameOf(startOf(newest, 1 - MOST_MONTHS));
  const asked = name ?? newest;
  const isKept = (month: string): boolean => month <= newest && month >= oldest && month >= bound;
  if (!FORM.test(asked) || !isKept(asked)) return null;
  const [previous, next] = [nameOf(startOf(asked, -1)), nameOf(startOf(asked, 1))];
  return {
    name: asked,
    from: startOf(asked, 0),
    to: startOf(asked, 1),
    previous: isKept(previous) ? previous : null,
    next: isKept(next) ? next : null,
  };
}

/** Returns the beginning of the month that is some months after a month. */
function startOf(month: string, after: number): Date {
  const [year = "", number = ""] = month.split("-");
  return new Date(Date.UTC(Number(year), Number(number) - 1 + after, 1));
}

function nameOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}
