/** A row that is to be gathered. Times are Unix milliseconds. */
export interface DueRow {
  readonly incidentId: number;
  readonly accountId: number;
  readonly host: string;
  readonly causeCode: string;
  readonly causeKey: string;
  readonly confirmedAt: number;
  /** Number of claims so far. */
  readonly attempts: number;
}

/** A row that was claimed lately. */
export type Leader = Pick<DueRow, "incidentId" | "accountId" | "host" | "causeCode" | "causeKey" | "confirmedAt">;

/** Why nothing is gathered for an incident. */
export type FailReason = "interrupted" | "too_many" | "target_busy" | "too_late" | "no_monitor" | "internal_error";

/** What happens to rows. A row in no list stays as it is, and waits for room. */
interface Plan {
  readonly gather: readonly DueRow[];
  readonly shared: readonly { readonly incidentId: number; readonly sharedWith: number }[];
  readonly failed: readonly { readonly incidentId: number; readonly reason: FailReason }[];
}

/** Outages that are confirmed within this time can have one cause, milliseconds. */
export const CAUSE_MS = 60_000;
/** Maximum number of gatherings for one account in this time. */
const MOST_PER_ACCOUNT = 10;
/** Maximum number of gatherings at one host in this time, over all accounts. */
const MOST_PER_HOST = 3;
/** A row that waits longer than this is given up, milliseconds: by then the outage can look different. */
const MOST_WAIT_MS = 120_000;
/** Maximum number of claims of one row. */
const MOST_ATTEMPTS = 2;

/**
 * Decides for which outages evidence is gathered, in the order of their confirmation. Outages of one account within 60 s
 * share the evidence of the first that has the same cause: another look at it would say the same. A host is examined at
 * most three times in 60 s, for different causes or accounts; further outages of an account share the first of its own at
 * this host. An account has at most 10 gatherings in 60 s; further outages share the first with the same word of cause.
 * `room` is the number of gatherings that can begin now.
 */
export function planRound(due: readonly DueRow[], known: readonly Leader[], room: number, now: number): Plan {
  const leaders: Leader[] = [...known];
  const gather: DueRow[] = [];
  const shared: Plan["shared"][number][] = [];
  const failed: Plan["failed"][number][] = [];
  const ordered = due.toSorted((a, b) => a.confirmedAt - b.confirmedAt || a.incidentId - b.incidentId);
  for (const row of ordered) {
    const { incidentId } = row;
    const recent = leaders.filter((leader) => Math.abs(leader.confirmedAt - row.confirmedAt) <= CAUSE_MS);
    const own = recent.filter(({ accountId }) => accountId === row.accountId);
    const isAgain = row.attempts > 0;
    const isHostBusy = isBusy(recent, row);
    const leader = isAgain ? undefined : findLeader(own, row, isHostBusy);
    if (row.attempts >= MOST_ATTEMPTS) failed.push({ incidentId, reason: "interrupted" });
    else if (leader !== undefined) shared.push({ incidentId, sharedWith: leader.incidentId });
    else if (!isAgain && own.length >= MOST_PER_ACCOUNT) failed.push({ incidentId, reason: "too_many" });
    else if (!isAgain && isHostBusy) failed.push({ incidentId, reason: "target_busy" });
    else if (!isAgain && now - row.confirmedAt > MOST_WAIT_MS) failed.push({ incidentId, reason: "too_late" });
    else if (gather.length < room) {
      gather.push(row);
      leaders.push(row);
    }
  }
  return { gather, shared, failed };
}

/** Finds the incident whose evidence a row shares. */
function findLeader(own: readonly Leader[], row: DueRow, isHostBusy: boolean): Leader | undefined {
  const others = own.filter(({ incidentId }) => incidentId !== row.incidentId);
  const same =
    others.find((one) => one.causeKey === row.causeKey) ??
    others.find((one) => one.host === row.host && (isHostBusy || one.causeCode === row.causeCode) && row.host !== "");
  if (same !== undefined || others.length < MOST_PER_ACCOUNT) return same;
  return others.find((one) => one.causeCode === row.causeCode);
}

function isBusy(recent: readonly Leader[], { host }: DueRow): boolean {
  return host !== "" && recent.filter((one) => one.host === host).length >= MOST_PER_HOST;
}
