import type { Form } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/layout/times.ts";
import type { MaintenanceWindow, WindowSettings } from "#control-plane/outages/maintenance/window.ts";

/** Units of the duration, seconds each. */
const UNITS = { minutes: 60, hours: 3_600, days: 86_400 } as const;
/** One of UNITS. */
type Unit = keyof typeof UNITS;

/** Rules that the form has words for. They start on the day of the window's start (RFC 5545, 3.3.10). */
const RULES = { daily: "FREQ=DAILY", weekly: "FREQ=WEEKLY", monthly: "FREQ=MONTHLY" } as const;
/** How often a window is open, in words: by one of RULES, or by a rule of the member's own. */
export const REPEATS = {
  once: "Once",
  daily: "Every day",
  weekly: "Every week",
  monthly: "Every month",
  custom: "By a rule",
} as const;
type Repeats = keyof typeof REPEATS;

/** A window as it was typed. */
export interface TypedWindow {
  readonly title: string;
  readonly monitorIds: readonly number[];
  readonly tags: string;
  /** Local time as inputs of browsers write it: 2026-01-03T02:00. */
  readonly starts: string;
  readonly lasts: string;
  readonly unit: string;
  readonly repeats: string;
  readonly rule: string;
  readonly timezone: string;
  readonly isPublic: boolean;
}

/** Returns the form of a new window. */
export function emptyWindow(timezone: string, monitorIds: readonly number[]): TypedWindow {
  const when = { starts: "", lasts: "1", unit: "hours", repeats: "once", rule: "" };
  return { title: "", monitorIds, tags: "", ...when, timezone, isPublic: false };
}

/** Reads what was typed. */
export function typedOf(form: Form): TypedWindow {
  return {
    title: form.text("title"),
    monitorIds: form
      .list("monitor_ids")
      .filter((text) => /^[1-9]\d{0,14}$/.test(text))
      .map(Number),
    tags: form.text("tags"),
    starts: form.text("starts"),
    lasts: form.text("lasts"),
    unit: form.text("unit"),
    repeats: form.text("repeats"),
    rule: form.text("rule"),
    timezone: form.text("timezone"),
    isPublic: form.has("public"),
  };
}

/** Returns how the form shows a window. */
export function typedFrom(window: WindowSettings): TypedWindow {
  const { startsAt, durationSeconds, rrule, timezone } = window;
  const repeats = repeatsOf(rrule);
  const precision = startsAt.getUTCSeconds() === 0 ? "minute" : "second";
  return {
    title: window.title,
    monitorIds: window.monitorIds,
    tags: window.tags.join(" "),
    starts: formatLocal(startsAt, timezone, precision).replace(" ", "T"),
    ...durationOf(durationSeconds),
    repeats,
    rule: repeats === "custom" ? (rrule ?? "") : "",
    timezone,
    isPublic: window.isPublic,
  };
}

/** Returns how often a window with this rule is open. */
export function repeatsOf(rrule: string | null): Repeats {
  if (rrule === null) return "once";
  const [known] = Object.entries(RULES).find(([, rule]) => rule === rrule) ?? ["custom"];
  return known as Repeats;
}

/** Returns a duration by the largest unit of which it is a whole number; minutes can have a fraction. */
function durationOf(seconds: number): { readonly lasts: string; readonly unit: Unit } {
  const units = ["days", "hours", "minutes"] as const;
  const unit = units.find((name) => seconds % UNITS[name] === 0) ?? "minutes";
  return { lasts: String(Number((seconds / UNITS[unit]).toFixed(2))), unit };
}

/**
 * Returns what was typed as the API takes it. What the form of `current` shows and nobody has changed is left out, so that
 * it stays exactly as it is: a start has milliseconds, and local times of an autumn night are two.
 */
export function bodyOf(typed: TypedWindow, current: MaintenanceWindow | null): Readonly<Record<string, unknown>> {
  const shown = current === null ? null : typedFrom(current);
  const hasStart = shown === null || typed.starts !== shown.starts || typed.timezone !== shown.timezone;
  const hasSameDuration = shown !== null && typed.lasts === shown.lasts && typed.unit === shown.unit;
  return {
    title: typed.title.trim(),
    monitor_ids: [...typed.monitorIds],
    tags: typed.tags.split(/[\s,]/).filter((tag) => tag !== ""),
    ...(hasStart ? { starts_at: typed.starts } : {}),
    duration_seconds: hasSameDuration && current !== null ? current.durationSeconds : secondsOf(typed),
    rrule: ruleOf(typed),
    timezone: typed.timezone.trim(),
    public: typed.isPublic,
  };
}

/** Returns the duration in seconds; 0, which is refused, if it is no number. */
function secondsOf({ lasts, unit }: TypedWindow): number {
  const seconds = Number(lasts) * (Object.hasOwn(UNITS, unit) ? UNITS[unit as Unit] : UNITS.minutes);
  return Number.isFinite(seconds) ? Math.round(seconds) : 0;
}

function ruleOf({ repeats, rule }: TypedWindow): string | null {
  if (repeats === "custom") return rule.trim();
  return Object.hasOwn(RULES, repeats) ? RULES[repeats as keyof typeof RULES] : null;
}
