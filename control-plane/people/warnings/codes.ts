const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * Every code with the time in milliseconds for which a cause must last before it is reported to the operator. Agents that restart,
 * and a control plane that starts, need up to 20 s; upkeep that failed is repeated within 10 min.
 */
export const PATIENCE_MS = {
  no_agents: 30 * SECOND_MS,
  location_unserved: 30 * SECOND_MS,
  agents_failing: 30 * SECOND_MS,
  agents_too_old: 30 * SECOND_MS,
  too_few_locations: 30 * SECOND_MS,
  checks_late: 30 * SECOND_MS,
  mail_not_configured: 0,
  mail_failing: 0,
  history_late: 10 * MINUTE_MS,
  partitions_missing: 15 * MINUTE_MS,
  backup_old: 0,
} as const satisfies Readonly<Record<string, number>>;

/** A stable name of what is wrong. */
export type WarningCode = keyof typeof PATIENCE_MS;

/** All codes. */
export const WARNING_CODES = Object.keys(PATIENCE_MS) as readonly WarningCode[];
