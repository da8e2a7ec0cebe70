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

/** Why nothing is gathered for an incident whose monitor exists. */
export type FailReason = "interrupted" | "too_many" | "target_busy" | "too_late" | "internal_error";

/** What happens to rows. A row in no list stays as it is, and waits for room. */
interface Plan {
  readonly gather: readonly DueRow[];
  readonly shared: readonly SharedRow[];
  readonly failed: readonly FailedRow[];
}

/** A row that shares the evidence of another. */
export interface SharedRow {
  readonly row: DueRow;
  readonly leader: Leader;
}

/** A row for which nothing is gathered. */
export interface FailedRow {
  readonly row: DueRow;
  readonly reason: FailReason;
  /** Another outage of the account with the same word of cause, whose evidence can help; null: none is known. */
  readonly similar: Leader | null;
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
 * share the evidence of the first that has the same target and cause: another look at it would say the same. A host is
 * examined at most three times in 60 s, for different targets, causes or accounts, and an account has at most 10
 * gatherings in 60 s. Further outages have none, and a similar one is named: never the evidence of another target.
 * `room` is the number of gatherings that can begin now.
 */
export function planRound(due: readonly DueRow[], known: readonly Leader[], room: number, now: number): Plan {
  const claimed: Leader[] = [...known];
  const interrupted = new Set(due.filter(isInterrupted).map(({ incidentId }) => incidentId));
  const gather: DueRow[] = [];
  const shared: SharedRow[] = [];
  const failed: FailedRow[] = [];
  const ordered = due.toSorted((a, b) => a.confirmedAt - b.confirmedAt || a.incidentId - b.incidentId);
  for (const row of ordered) {
    const recent = claimed.filter((leader) => Math.abs(leader.confirmedAt - row.confirmedAt) <= CAUSE_MS);
    const own = recent.filter(({ accountId }) => accountId === row.accountId);
    const leaders = own.filter(({ incidentId }) => incidentId !== row.incidentId && !interrupted.has(incidentId));
    const isAgain = row.attempts > 0;
    const isHostBusy = isBusy(recent, row);
    const leader = isAgain ? undefined : leaders.find(({ causeKey }) => causeKey === row.causeKey);
    const fail = (reason: FailReason): void => {
      failed.push({ row, reason, similar: leaders.find(({ causeCode }) => causeCode === row.causeCode) ?? null });
    };
    if (isInterrupted(row)) fail("interrupted");
    else if (leader !== undefined) shared.push({ row, leader });
    else if (!isAgain && own.length >= MOST_PER_ACCOUNT) fail("too_many");
    else if (!isAgain && isHostBusy) fail("target_busy");
    else if (!isAgain && now - row.confirmedAt > MOST_WAIT_MS) fail("too_late");
    else if (gather.length < room) {
      gather.push(row);
      claimed.push(row);
    }
  }
  return { gather, shared, failed };
}

function isInterrupted({ attempts }: DueRow): boolean {
  return attempts >= MOST_ATTEMPTS;
}

function isBusy(recent: readonly Leader[], { host }: DueRow): boolean {
  return host !== "" && recent.filter((one) => one.host === host).length >= MOST_PER_HOST;
}
