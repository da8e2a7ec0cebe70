import type {
  Action,
  ChangeRow,
  CheckRow,
  Finding,
  MonitorHistory,
  MonitorRow,
  Verdict,
} from "#test/fleet/monitors/records.ts";
import { NaiveMonitor } from "#test/fleet/monitors/rules/naive.ts";

/** The beginning or the end of an outage, for which a notice is due. */
export interface Notice {
  readonly monitorId: number;
  readonly tx: number;
  readonly type: "monitor.down" | "monitor.up";
}

/** One transaction that concerns a monitor. */
interface Step {
  readonly tx: number;
  readonly committedAt: number;
  readonly checks: CheckRow[];
  readonly changes: ChangeRow[];
}

/** What makes a monitor unknown until its next check. */
const NEW_STARTS: ReadonlySet<Action["kind"]> = new Set(["pause", "resume", "retarget"]);
/** Difference between the product's clock and the database's commit times, at most. */
const CLOCK_MS = 1_000;

/**
 * Status changes follow from the checks, and none is lost, doubled or invented. The time at which the product judged a
 * check lies between its beginning and its commit. Where both ends lead to different statuses, either is right.
 */
export function judgeMonitors(history: MonitorHistory): { readonly findings: Finding[]; readonly notices: Notice[] } {
  const findings: Finding[] = [];
  const notices: Notice[] = [];
  const checks = Map.groupBy(history.checks, ({ monitorId }) => monitorId);
  const changes = Map.groupBy(history.changes, ({ monitorId }) => monitorId);
  const actions = Map.groupBy(history.actions, ({ monitorId }) => monitorId);
  for (const monitor of history.monitors) {
    // The changes of a deleted monitor are deleted with it.
    if (monitor.deletedAt !== null) continue;
    const steps = stepsOf(checks.get(monitor.id) ?? [], changes.get(monitor.id) ?? []);
    const starts = (actions.get(monitor.id) ?? []).filter(({ kind }) => NEW_STARTS.has(kind));
    const status = judge(monitor, { steps, starts }, { findings, notices });
    if (monitor.status !== status) {
      findings.push({ rule: "the present status is not that of the last change", about: { monitor, status } });
    }
    const truth = history.truth.get(monitor.id);
    if (monitor.isActive && truth !== undefined && monitor.status !== truth) {
      findings.push({ rule: "the status at the end is not that of the target", about: { monitor, truth } });
    }
  }
  return { findings, notices };
}

function stepsOf(checks: readonly CheckRow[], changes: readonly ChangeRow[]): readonly Step[] {
  const steps = new Map<number, Step>();
  const stepOf = ({ tx, committedAt }: Pick<Step, "tx" | "committedAt">): Step => {
    const step = steps.get(tx) ?? { tx, committedAt, checks: [], changes: [] };
    steps.set(tx, step);
    return step;
  };
  for (const check of checks) stepOf(check).checks.push(check);
  for (const change of changes) stepOf(change).changes.push(change);
  return [...steps.values()].toSorted((one, other) => one.committedAt - other.committedAt);
}

/** Follows a monitor through its history. Returns its last status. */
function judge(
  monitor: MonitorRow,
  { steps, starts }: { readonly steps: readonly Step[]; readonly starts: readonly Action[] },
  { findings, notices }: { readonly findings: Finding[]; readonly notices: Notice[] },
): Verdict {
  // Two models: one that judges each check at its beginning, and one that judges it at its commit.
  const early = new NaiveMonitor(monitor);
  const late = new NaiveMonitor(monitor);
  const object = (rule: string, step: Step) => void findings.push({ rule, about: { monitor, step, was: late.status } });
  let changedAt: number | null = null;
  for (const step of steps) {
    const [check, second] = step.checks;
    const [change, other] = step.changes;
    if (second !== undefined) object("two checks of a monitor in one transaction", step);
    if (other !== undefined) object("two status changes in one transaction", step);
    if (check === undefined) {
      if (change?.status !== "unknown") object("a status change without a check", step);
      if (change?.status === "unknown" && !starts.some((action) => spans(action, step.committedAt))) {
        // Its results have become too old.
        const [from, to] = [step.committedAt - CLOCK_MS, step.committedAt + CLOCK_MS];
        if (![early.decide(from), late.decide(to)].includes("unknown"))
          object("unknown in spite of fresh checks", step);
        early.take("unknown", from);
        late.take("unknown", to);
      } else {
        early.restart();
        late.restart();
      }
      changedAt = change?.at ?? null;
      continue;
    }
    const [from, to] = [check.checkedAt - CLOCK_MS, step.committedAt + CLOCK_MS];
    early.hear(check, from);
    late.hear(check, to);
    const allowed = [early.decide(from), late.decide(to)];
    const before = late.status;
    const status = change?.status ?? before;
    if (change !== undefined && status === before) object("a status change to the same status", step);
    else if (!allowed.includes(status)) {
      object(change === undefined ? "a status change is lost" : "a status change that the checks do not give", step);
    }
    if (change === undefined) continue;
    if (status === "down" && before !== "down" && !early.hasQuorum(from) && !late.hasQuorum(to)) {
      object("down from fewer locations than the quorum", step);
    }
    if (!isDated(late, change, check, changedAt)) {
      object("a status change at a time at which no check began", step);
    }
    early.take(status, from);
    const isNotice = late.take(status, to);
    changedAt = change.at;
    if (isNotice)
      notices.push({ monitorId: monitor.id, tx: step.tx, type: status === "down" ? "monitor.down" : "monitor.up" });
  }
  return late.status;
}

/** Reports whether an action can have been committed at a time. */
function spans({ askedAt, answeredAt }: Action, at: number): boolean {
  return askedAt - CLOCK_MS <= at && (answeredAt === null || at <= answeredAt + CLOCK_MS);
}

/**
 * Reports whether a change is dated at a check of its verdict, at the change before it, or at its own recording. A change
 * never lies before the one before it.
 */
function isDated(
  model: NaiveMonitor,
  { at, status, committedAt }: ChangeRow,
  check: CheckRow,
  changedAt: number | null,
): boolean {
  if (changedAt !== null && at < changedAt) return false;
  if (status === "unknown" || at === changedAt || model.began(status, at)) return true;
  return status === "up" && at >= check.checkedAt - CLOCK_MS && at <= committedAt + CLOCK_MS;
}
