import { listAll } from "#shared/text/list.ts";
import { cutLine } from "#shared/text/plain-line.ts";
import type { CompositeSettings } from "#control-plane/outages/kinds/composite.ts";
import type { CheckFault, MonitorState, StateSettings } from "#control-plane/outages/state/state.ts";
import { transition, type Transition } from "#control-plane/outages/state/transition.ts";

/** The name under which the state of a composite keeps its verdict: it has no locations. */
export const COMPOSITE_LOCATION = "composite";

/** A monitor that a composite follows, by its newest status. */
export interface MemberStatus {
  readonly name: string;
  /** maintenance: it is down, and a maintenance window covers it. */
  readonly status: "up" | "down" | "unknown" | "maintenance";
}

/** Maximum number of monitors that a cause names, and of characters of each name. */
const MOST_NAMED = 3;
const MOST_NAME = 40;

/**
 * Judges a composite by the statuses of its monitors. One that is unknown or in maintenance counts as not down; if all are
 * unknown, or none is left, nothing is known. The fault says which are down.
 */
export function judgeComposite(
  { down_when: rule, percent }: Pick<CompositeSettings, "down_when" | "percent">,
  members: readonly MemberStatus[],
): { readonly verdict: "up" | "down" | "unknown"; readonly fault: CheckFault | null } {
  if (members.every(({ status }) => status === "unknown")) return { verdict: "unknown", fault: null };
  const down = members.filter(({ status }) => status === "down");
  const least =
    rule === "any" ? 1 : rule === "all" ? members.length : Math.ceil((members.length * (percent ?? 100)) / 100);
  if (down.length < Math.max(1, least)) return { verdict: "up", fault: null };
  const message = describeDown(down, members.length);
  return { verdict: "down", fault: { stage: "response", source: "target", reason: "members_down", message } };
}

/** Says how many are down and which, such as "2 of 3 monitors are down: Shop and Blog". */
function describeDown(down: readonly MemberStatus[], total: number): string {
  const named = down.slice(0, MOST_NAMED).map(({ name }) => cutLine(name, MOST_NAME));
  const others = down.length - named.length;
  const list = listAll(others > 0 ? [...named, `${others} more`] : named);
  return `${down.length} of ${total} monitors ${down.length === 1 ? "is" : "are"} down: ${list}`;
}

/**
 * Returns what the statuses of its monitors, and time, change about a composite. While it is down the verdict is repeated
 * with its time, so that reminders become due and silenced notices are sent when the reason has ended.
 */
export function followMembers(
  options: CompositeSettings,
  settings: StateSettings,
  before: MonitorState,
  members: readonly MemberStatus[],
  now: number,
): Transition {
  const { verdict, fault } = judgeComposite(options, members);
  if (verdict === "unknown") return transition(settings, { ...before, locations: new Map() }, null, now);
  const known = before.locations.get(COMPOSITE_LOCATION);
  const isSame = known?.verdict === verdict && known.fault?.message === fault?.message;
  if (isSame && verdict === "up") return transition(settings, before, null, now);
  const beganAt = isSame ? known.at : now;
  const observation = { location: COMPOSITE_LOCATION, verdict, beganAt, responseMs: null, fault, isRecheck: false };
  return transition(settings, before, observation, now);
}
