import type { Transaction } from "#control-plane/database/connect.ts";
import {
  addEntry,
  changeOutage,
  openOutage,
  resolveOutage,
  suppressOutage,
} from "#control-plane/incidents/outages/outages.ts";
import type { Incident } from "#control-plane/incidents/incident.ts";
import type { CheckType, MonitorSettings } from "#control-plane/monitors/monitor.ts";
import type { Notice } from "#control-plane/monitors/state/hold-notices.ts";
import type { MonitorState } from "#control-plane/monitors/state/state.ts";
import type { StateEvent } from "#control-plane/monitors/state/events.ts";

/** The facts about a monitor that its incidents and events contain. */
export interface OutageFacts {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly url: string;
  readonly checkType: CheckType;
  readonly settings: MonitorSettings;
}

/** The incident of a monitor after a transition. */
export interface Outage {
  /** The incident that is open now; null: none is. */
  readonly openId: number | null;
  /** The incident that the transition opened, changed or resolved; null: none, or it is unknown. */
  readonly incident: Incident | null;
}

/** A transition with the notices that follow from it. */
interface OutageChange {
  readonly before: MonitorState;
  readonly noticed: {
    readonly state: MonitorState;
    readonly events: readonly StateEvent[];
    readonly notices: readonly Notice[];
  };
  /** The monitor whose outage holds notices back; null: none. */
  readonly suppressedBy: number | null;
}

/** Opens, changes or resolves the incident of a monitor by the events of a transition. */
export async function applyToIncident(
  tx: Transaction,
  monitor: OutageFacts,
  { before, noticed, suppressedBy }: OutageChange,
  at: Date,
): Promise<Outage> {
  let outage: Outage = { openId: noticed.state.incidentId ?? before.incidentId, incident: null };
  for (const event of noticed.events) outage = await applyEvent(tx, monitor, { event, suppressedBy, outage }, at);
  const isSuppressedNow = before.held?.reason === "undecided" && noticed.state.held?.reason === "dependency";
  if (isSuppressedNow && suppressedBy !== null && outage.openId !== null) {
    await suppressOutage(tx, outage.openId, suppressedBy, at);
  }
  const isReleased = before.held !== null && noticed.state.held === null && noticed.notices.length > 0;
  if (isReleased && outage.openId !== null) {
    await addEntry(tx, outage.openId, {
      kind: "released",
      at,
      text: "Notices are sent: the reason to hold them has ended",
    });
  }
  return outage;
}

async function applyEvent(
  tx: Transaction,
  monitor: OutageFacts,
  {
    event,
    suppressedBy,
    outage,
  }: { readonly event: StateEvent; readonly suppressedBy: number | null; readonly outage: Outage },
  at: Date,
): Promise<Outage> {
  switch (event.kind) {
    case "down": {
      if (outage.openId !== null) {
        await changeOutage(tx, outage.openId, { monitor, failing: event.failing, at });
        return outage;
      }
      const { failing, startedAt } = event;
      const opened = await openOutage(tx, {
        monitor,
        startedAt: new Date(startedAt),
        confirmedAt: at,
        failing,
        suppressedBy,
      });
      return { openId: opened.incident.id, incident: opened.incident };
    }
    case "up": {
      if (outage.openId === null) return outage;
      const recoveredAt = new Date(event.recoveredAt);
      return { openId: null, incident: await resolveOutage(tx, outage.openId, { recoveredAt, confirmedAt: at }) };
    }
    case "failing":
      if (outage.openId !== null) await changeOutage(tx, outage.openId, { monitor, failing: event.failing, at });
      return outage;
    case "reminder":
      if (outage.openId !== null)
        await addEntry(tx, outage.openId, { kind: "reminder", at, text: "A reminder is due" });
      return outage;
    case "flapping":
      if (outage.openId !== null && event.isFlapping) {
        await addEntry(tx, outage.openId, {
          kind: "flapping",
          at,
          text: "The monitor changes too often: it is flapping",
        });
      }
      return outage;
    default:
      return outage;
  }
}
