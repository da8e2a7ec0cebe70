import { SCOPES, type Scope } from "#shared/tools/define.ts";

/** Names of the five plans, smallest first. */
export const PLAN_NAMES = ["free", "starter", "pro", "business", "captain"] as const;
/** Name of one of the five plans. */
export type PlanName = (typeof PLAN_NAMES)[number];

/** Limits and scopes of the accounts of a plan. */
export interface Plan {
  readonly name: PlanName;
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
  readonly scopes: readonly Scope[];
  /** Maximum number of monitors of an account, paused ones included. */
  readonly monitors: number;
  /** Shortest interval between two checks of a monitor, in minutes. */
  readonly shortestIntervalMinutes: number;
  /** Maximum number of URLs in one batch. */
  readonly batchUrls: number;
  /** Maximum number of probes that one call uses. */
  readonly locations: number;
  /** Maximum number of API keys of an account. */
  readonly keys: number;
  /** Maximum number of webhook subscriptions of an account, inactive ones included. */
  readonly webhooks: number;
  /** Whether an account can get signed audit exports. */
  readonly auditExport: boolean;
}

/** Every plan by name. */
export type Plans = Readonly<Record<PlanName, Plan>>;

type Row = readonly [number, number, readonly Scope[], number, number, number, number, number, number];

// Columns: requests/min, requests/day, scopes, monitors, shortest interval in minutes, batch URLs, locations, keys,
// webhooks.
const ROWS: Readonly<Record<PlanName, Row>> = {
  free: [10, 100, ["check", "dns"], 5, 5, 5, 2, 5, 1],
  starter: [30, 1_000, SCOPES, 25, 2, 20, 4, 10, 5],
  pro: [60, 5_000, SCOPES, 100, 1, 50, 10, 25, 20],
  business: [120, 50_000, SCOPES, 500, 1, 100, 25, 50, 50],
  captain: [240, 200_000, SCOPES, 1_000, 1, 100, 50, 100, 50],
};

/** The built-in plans. */
export const BUILT_IN_PLANS: Plans = {
  free: plan("free"),
  starter: plan("starter"),
  pro: plan("pro"),
  business: plan("business"),
  captain: plan("captain"),
};

function plan(name: PlanName): Plan {
  const [perMinute, perDay, scopes, monitors, shortestIntervalMinutes, batchUrls, locations, keys, webhooks] =
    ROWS[name];
  return {
    name,
    requestsPerMinute: perMinute,
    requestsPerDay: perDay,
    scopes,
    monitors,
    shortestIntervalMinutes,
    batchUrls,
    locations,
    keys,
    webhooks,
    auditExport: name === "captain",
  };
}

/** Reports whether a word is the name of a plan; plan names are lower case. */
export function isPlanName(word: unknown): word is PlanName {
  return (PLAN_NAMES as readonly unknown[]).includes(word);
}
