import { SCOPES, type Scope } from "#shared/tools/define.ts";

/** The five plans, smallest first. */
export const PLAN_NAMES = ["free", "starter", "pro", "business", "captain"] as const;
/** One of the five plans. */
export type PlanName = (typeof PLAN_NAMES)[number];

/** What an account of a plan may do (decisions 2). */
export interface Plan {
  readonly name: PlanName;
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
  readonly scopes: readonly Scope[];
  readonly webhooks: number;
  /** URLs in one batch submission. */
  readonly batchUrls: number;
  readonly monitors: number;
  readonly shortestIntervalMinutes: number;
  /** Probes one call may use. */
  readonly locations: number;
  readonly keys: number;
  readonly auditExport: boolean;
}

/** Every plan by name. */
export type Plans = Readonly<Record<PlanName, Plan>>;

type Row = readonly [number, number, readonly Scope[], number, number, number, number, number, number, boolean];

// Columns: requests/min, requests/day, scopes, webhooks, batch URLs, monitors, shortest interval, locations, keys, audit.
const ROWS: Readonly<Record<PlanName, Row>> = {
  free: [10, 100, ["check", "dns"], 1, 5, 5, 5, 2, 5, false],
  starter: [30, 1_000, SCOPES, 5, 20, 25, 2, 4, 10, false],
  pro: [60, 5_000, SCOPES, 20, 50, 100, 1, 10, 25, false],
  business: [120, 50_000, SCOPES, 50, 100, 500, 1, 25, 50, false],
  captain: [240, 200_000, SCOPES, 50, 100, 1_000, 1, 50, 100, true],
};

/** The built-in table of decisions 2. */
export const BUILT_IN_PLANS: Plans = {
  free: plan("free"),
  starter: plan("starter"),
  pro: plan("pro"),
  business: plan("business"),
  captain: plan("captain"),
};

function plan(name: PlanName): Plan {
  const [perMinute, perDay, scopes, webhooks, batchUrls, monitors, interval, locations, keys, auditExport] = ROWS[name];
  return {
    name,
    requestsPerMinute: perMinute,
    requestsPerDay: perDay,
    scopes,
    webhooks,
    batchUrls,
    monitors,
    shortestIntervalMinutes: interval,
    locations,
    keys,
    auditExport,
  };
}

/** Whether a word names a plan; plan names are lower case. */
export function isPlanName(word: unknown): word is PlanName {
  return (PLAN_NAMES as readonly unknown[]).includes(word);
}
