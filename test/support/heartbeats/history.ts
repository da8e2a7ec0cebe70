/** Everything that was recorded for one heartbeat. Times are Unix milliseconds. */
export interface HeartbeatHistory {
  readonly periodMs: number;
  readonly graceMs: number;
  readonly status: string;
  /** In the order in which they were written. */
  readonly changes: readonly { readonly status: string; readonly at: number }[];
  readonly incidents: readonly { readonly id: number; readonly isOpen: boolean }[];
  /** In the order of their times. */
  readonly events: readonly { readonly type: string; readonly incidentId: number | null }[];
  /** Every ping that was ever recorded, in the order of its numbers. */
  readonly pings: readonly RecordedPing[];
  /** The pings that the heartbeat still has. */
  readonly kept: readonly number[];
  /** Ids of the pings that were answered with 200. */
  readonly answered: readonly string[];
}

/** A ping as it was recorded. */
export interface RecordedPing {
  readonly number: number;
  readonly rid: string | null;
  readonly kind: string;
  readonly exitCode: number | null;
  readonly receivedAt: number;
}

const KEPT = 100;

/** Lists what is wrong with a history, in a few words each. */
export function findingsOf(history: HeartbeatHistory): readonly string[] {
  return [...pingFindings(history), ...changeFindings(history), ...outageFindings(history), ...endFindings(history)];
}

function* pingFindings({ pings, kept, answered }: HeartbeatHistory): Generator<string> {
  for (const [index, { number }] of pings.entries()) {
    if (number !== index + 1) yield `ping ${index + 1} has the number ${number}`;
  }
  const newest = pings.slice(-KEPT).map(({ number }) => number);
  if (kept.join() !== newest.join()) yield `the pings ${kept.join()} are kept, not the newest`;
  const recorded = new Map<string, number>();
  for (const { rid } of pings) if (rid !== null) recorded.set(rid, (recorded.get(rid) ?? 0) + 1);
  for (const rid of answered) if (!recorded.has(rid)) yield `ping ${rid} was answered and is lost`;
  for (const [rid, count] of recorded) if (count > 1) yield `ping ${rid} is recorded ${count} times`;
}

function* changeFindings({ changes, pings, periodMs, graceMs }: HeartbeatHistory): Generator<string> {
  const good = pings.filter((ping) => verdictOf(ping) === "up").map(({ receivedAt }) => receivedAt);
  const bad = pings.filter((ping) => verdictOf(ping) === "down").map(({ receivedAt }) => receivedAt);
  const starts = pings.filter(({ kind }) => kind === "start").map(({ receivedAt }) => receivedAt);
  const causes = {
    up: new Set(good),
    down: new Set([...bad, ...good.map((at) => at + periodMs + graceMs), ...starts.map((at) => at + graceMs)]),
  };
  for (const [index, { status, at }] of changes.entries()) {
    const before = changes[index - 1];
    if (before?.status === status) yield `two changes to ${status}, one after the other`;
    if (before !== undefined && before.at > at) yield `a change to ${status} before the one that it follows`;
    // Pings that were recorded late count from the change that came in between.
    const hasCause = status !== "up" && status !== "down" ? true : causes[status].has(at) || before?.at === at;
    if (!hasCause) yield `a change to ${status} at ${at} without a cause`;
  }
}

function* outageFindings({ changes, incidents, events, status }: HeartbeatHistory): Generator<string> {
  const outages = changes.filter((change) => change.status === "down").length;
  if (incidents.length !== outages) yield `${incidents.length} incidents of ${outages} outages`;
  const open = incidents.filter(({ isOpen }) => isOpen);
  if (open.length > 1) yield `${open.length} incidents are open`;
  if (open.length > 0 !== (status === "down")) yield `${open.length} incidents are open while it is ${status}`;
  for (const { id, isOpen } of incidents) {
    // Notices of flapping come beside the outages: at its begin, at its end and in between.
    const own = events.filter((event) => event.incidentId === id && event.type !== "flapping").map(({ type }) => type);
    const wanted = isOpen ? ["monitor.down"] : ["monitor.down", "monitor.up"];
    if (own.toSorted().join() !== wanted.join()) yield `incident ${id} has the events ${own.join()}`;
  }
  const known = new Set(incidents.map(({ id }) => id));
  for (const { type, incidentId } of events) {
    if (incidentId === null || !known.has(incidentId)) yield `${type} belongs to no incident`;
  }
}

function* endFindings({ status, changes, pings }: HeartbeatHistory): Generator<string> {
  const written = changes.at(-1)?.status ?? "unknown";
  if (written !== status) yield `it is ${status} and its history ends with ${written}`;
  const verdict = judgedPings(pings).at(-1);
  // A deadline can have passed since the last success. Whether one did, changeFindings examines.
  if (verdict !== undefined && verdictOf(verdict) === "down" && status !== "down") {
    yield `it is ${status} after a failure`;
  }
  const change = changes.at(-1);
  if (verdict !== undefined && verdictOf(verdict) === "up" && status === "down") {
    if ((change?.at ?? 0) <= verdict.receivedAt) yield "it is down after a success";
  }
}

/** Lists the pings with a verdict that counts: not those that arrived before a success that was recorded earlier. */
function judgedPings(pings: readonly RecordedPing[]): readonly RecordedPing[] {
  let succeededAt = -Infinity;
  return pings.filter((ping) => {
    const verdict = verdictOf(ping);
    if (verdict === null || ping.receivedAt < succeededAt) return false;
    if (verdict === "up") succeededAt = ping.receivedAt;
    return true;
  });
}

function verdictOf({ kind, exitCode }: RecordedPing): "up" | "down" | null {
  if (kind === "start" || kind === "log") return null;
  return kind === "success" || exitCode === 0 ? "up" : "down";
}
