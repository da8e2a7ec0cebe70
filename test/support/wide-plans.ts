import { BUILT_IN_PLANS, type Plans } from "#control-plane/core/plans.ts";

/** Limits that no test reaches, however long it waits and asks for what it waits for. */
export const WIDE_LIMITS = { requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 };

/** The plans, with a captain of as many requests as a test needs. */
export const WIDE_PLANS: Plans = { ...BUILT_IN_PLANS, captain: { ...BUILT_IN_PLANS.captain, ...WIDE_LIMITS } };
