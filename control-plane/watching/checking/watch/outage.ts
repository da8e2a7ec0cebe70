import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { Incident } from "#control-plane/outages/incidents/incident.ts";
import { openOutages } from "#control-plane/outages/incidents/outages/open.ts";
import {
  addLines,
  changeCause,
  changeOutage,
  suppressOutages,
  type Line,
} from "#control-plane/outages/incidents/outages/outages.ts";
import { resolveOutages } from "#control-plane/outages/incidents/outages/resolve.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import type { Notice } from "#control-plane/outages/state/notices.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";
import type { StateEvent } from "#control-plane/outages/state/events.ts";
import { findChangedCauses } from "#control-plane/watching/checking/watch/changed-causes.ts";

/** The facts about a monitor that its incidents and events contain. */
export interface OutageFacts {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  /** Empty for a kind without a target. */
  readonly url: string;
  readonly checkType: CheckType;
  readonly settings: Pick<
    MonitorSettings,
    "timeout_seconds" | "port" | "locations" | "degraded_ms" | "notify_email" | "notify_emails" | "notify_advisories"
  >;
}

/** The incident of a monitor after a transition. */
export interface Outage {
  /** The incident that is open now; null: none is. */
  readonly openId: number | null;
  /** The incident that the transition opened or resolved; null: none, or it is unknown. */
  readonly incident: Incident | null;
  /** Whether the transition opened it. */
  readonly isOpened: boolean;
}

/** A transition with the notices that follow from it. */
interface OutageChange {
  readonly monitor: OutageFacts;
  readonly before: MonitorState;
  readonly noticed: {
    readonly state: MonitorState;
    readonly events: readonly StateEvent[];
    readonly notices: readonly Notice[];
  };
  /** The monitor whose outage holds notices back; null: none. */
  readonly suppressedBy: number | null;
  readonly at: Date;
}

/** A change with what has become of its incident so far. */
interface Step extends OutageChange {
  outage: Outage;
}

/**
 * Opens, changes or resolves the incidents of different monitors by the events of transitions. The number of statements
 * depends on the number of monitors only if some stay down while other locations of them fail than before.
 */
export async function applyToIncidents(tx: Transaction, changes: readonly OutageChange[]): Promise<readonly Outage[]> {
  const steps = changes.map((change): Step => {
    const openId = change.noticed.state.incidentId ?? change.before.incidentId;
    return { ...change, outage: { openId, incident: null, isOpened: false } };
  });
  const known = steps.filter(({ outage }) => outage.openId !== null);
  await openAll(tx, steps);
  await resolveAll(tx, steps);
  await changeAll(tx, known);
  await addLines(tx, steps.flatMap(describeLines));
  await suppressAll(tx, steps);
  return steps.map(({ outage }) => outage);
}

async function openAll(tx: Transaction, steps: readonly Step[]): Promise<void> {
  const wanted = steps.flatMap((step) => {
    const down = eventOf(step, "down");
    return step.outage.openId !== null || down === undefined ? [] : { step, down };
  });
  const opened = await openOutages(
    tx,
    wanted.map(({ step: { monitor, suppressedBy, at }, down: { failing, startedAt } }) => {
      return { monitor, startedAt: new Date(startedAt), confirmedAt: at, failing, suppressedBy };
    }),
  );
  for (const [index, { step }] of wanted.entries()) {
    const { incident, isNew } = opened[index] ?? { incident: null, isNew: false };
    step.outage = { openId: incident?.id ?? null, incident, isOpened: isNew };
  }
}

async function resolveAll(tx: Transaction, steps: readonly Step[]): Promise<void> {
  const wanted = steps.flatMap((step) => {
    const up = eventOf(step, "up");
    const { openId } = step.outage;
    return openId === null || up === undefined ? [] : { step, up, incidentId: openId };
  });
  const resolved = await resolveOutages(
    tx,
    wanted.map(({ step, up, incidentId }) => {
      const { locations } = step.noticed.state;
      const good = [...locations.keys()].filter((location) => locations.get(location)?.verdict === "up");
      return { incidentId, recoveredAt: new Date(up.recoveredAt), confirmedAt: step.at, good };
    }),
  );
  for (const [index, { step }] of wanted.entries()) {
    step.outage = { openId: null, incident: resolved[index] ?? null, isOpened: false };
  }
}

/** Stores the failing locations and the causes of outages whose incidents were open before. */
async function changeAll(tx: Transaction, known: readonly Step[]): Promise<void> {
  for (const { before, noticed, monitor, outage, at } of known) {
    for (const event of noticed.events) {
      const isChange = event.kind === "down" || event.kind === "failing";
      if (isChange && outage.openId !== null) {
        await changeOutage(tx, outage.openId, { monitor, failing: event.failing, at });
      }
    }
    const failing = findChangedCauses(monitor, before, noticed.state);
    if (failing.length > 0 && outage.openId !== null) await changeCause(tx, outage.openId, { monitor, failing, at });
  }
}

function describeLines(step: Step): readonly Line[] {
  const { before, noticed, outage, at } = step;
  const { openId: incidentId } = outage;
  if (incidentId === null) return [];
  const lines: Line[] = [];
  if (eventOf(step, "flapping")?.isFlapping === true) {
    lines.push({ incidentId, kind: "flapping", at, text: "The monitor changes too often: it is flapping" });
  }
  if (eventOf(step, "reminder") !== undefined) {
    lines.push({ incidentId, kind: "reminder", at, text: "A reminder is due" });
  }
  if (before.silenced !== null && noticed.state.silenced === null && noticed.notices.length > 0) {
    const text = "Notices are sent: the reason to hold them has ended";
    lines.push({ incidentId, kind: "released", at, text });
  }
  return lines;
}

async function suppressAll(tx: Transaction, steps: readonly Step[]): Promise<void> {
  const suppressed = steps.flatMap(({ before, noticed, suppressedBy, outage, at }) => {
    const isNow = before.silenced?.reason === "undecided" && noticed.state.silenced?.reason === "dependency";
    const { openId: incidentId } = outage;
    return !isNow || suppressedBy === null || incidentId === null ? [] : { incidentId, suppressedBy, at };
  });
  await suppressOutages(tx, suppressed);
}

/** Finds the event of a kind; a transition has at most one of each. */
function eventOf<K extends StateEvent["kind"]>(
  { noticed }: OutageChange,
  kind: K,
): Extract<StateEvent, { readonly kind: K }> | undefined {
  return noticed.events.find((event): event is Extract<StateEvent, { readonly kind: K }> => event.kind === kind);
}
