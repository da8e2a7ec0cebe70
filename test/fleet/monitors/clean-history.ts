import type {
  Answer,
  ChangeRow,
  CheckRow,
  EntryRow,
  MonitorHistory,
  MonitorRow,
  Verdict,
} from "#test/fleet/monitors/records.ts";

/** Lists of a history that a test can change. */
export type ForgeableHistory = {
  -readonly [Part in keyof MonitorHistory]: MonitorHistory[Part] extends readonly (infer Row)[]
    ? { -readonly [Field in keyof Row]: Row[Field] }[]
    : MonitorHistory[Part];
};

const LOCATIONS = ["r1", "r2", "r3"];
const INTERVAL_MS = 60_000;
/** Time from the beginning of a check to its commit. */
const TAKES_MS = 100;
const BEGIN = 1_800_000_000_000;

/**
 * Returns a history without a fault: one monitor at three locations that is up, down for two intervals, and up again;
 * and a monitor that was paused, resumed and deleted.
 */
export function cleanHistory(): ForgeableHistory {
  const checks: CheckRow[] = [];
  const changes: ChangeRow[] = [];
  const entries: EntryRow[] = [];
  const answers: Answer[] = [];
  let tx = 100;
  const write = (at: number) => ({ tx: (tx += 1), committedAt: at + TAKES_MS });
  const check = (monitorId: number, location: string, checkedAt: number, status: Verdict, isRecheck = false) => {
    const sending = 1_000 + checks.length;
    const row = {
      monitorId,
      location,
      checkedAt,
      status,
      sending,
      lagMs: 0,
      missed: 0,
      isRecheck,
      ...write(checkedAt),
    };
    checks.push(row);
    answers.push({ sending, number: monitorId, version: 1, location, verdict: status });
    return row;
  };
  const change = ({ committedAt, ...by }: Pick<CheckRow, "tx" | "committedAt">, at: number, status: Verdict) =>
    void changes.push({ monitorId: 1, at, status, tx: by.tx, committedAt });
  const entry = ({ tx: by, committedAt }: Pick<CheckRow, "tx" | "committedAt">, kind: string) =>
    void entries.push({ id: entries.length + 1, incidentId: 5, kind, tx: by, committedAt });

  // Planned times are 0, 20 and 40 s after the full minute; the first checks are planned at the creation.
  const planned = (minute: number, ordinal: number) => BEGIN + minute * INTERVAL_MS + ordinal * 20_000;
  const first = LOCATIONS.map((location, index) => check(1, location, BEGIN - 15_000 + index * 10, "up"));
  change(first[1] as CheckRow, BEGIN - 15_000, "up");
  for (const minute of [0, 1, 2, 3]) {
    for (const [ordinal, location] of LOCATIONS.entries()) {
      const isDown = minute === 1 || minute === 2;
      const row = check(1, location, planned(minute, ordinal), isDown ? "down" : "up");
      if (minute === 1 && ordinal === 1) {
        change(row, planned(1, 0), "down");
        entry(row, "opened");
        entry(row, "confirmed");
      }
      if (minute === 1 && ordinal === 2) entry(row, "location_failed");
      if (minute === 3 && ordinal === 1) {
        change(row, planned(3, 0), "up");
        entry(row, "recovered");
        entry(row, "resolved");
      }
    }
  }
  const down = checks.find(({ tx: by }) => by === changes[1]?.tx) as CheckRow;
  const up = checks.find(({ tx: by }) => by === changes[2]?.tx) as CheckRow;
  const events = [
    { id: "evt_1", type: "monitor.down", monitorId: 1, incidentId: 5, tx: down.tx, committedAt: down.committedAt },
    { id: "evt_2", type: "monitor.up", monitorId: 1, incidentId: 5, tx: up.tx, committedAt: up.committedAt },
  ];
  const monitor: MonitorRow = {
    id: 1,
    number: 1,
    isActive: true,
    locations: LOCATIONS,
    quorum: "majority",
    retries: 2,
    recovery: 1,
    intervalMs: INTERVAL_MS,
    timeoutMs: 15_000,
    recipients: ["a@example.com"],
    status: "up",
    deletedAt: null,
  };
  const pausedFrom = BEGIN + 20_000;
  const deletedAt = BEGIN + 90_000;
  check(2, "r1", BEGIN - 1_000, "up");
  check(2, "r1", BEGIN + 80_000, "up");
  return {
    monitors: [
      { ...monitor },
      { ...monitor, id: 2, number: 2, isActive: false, locations: ["r1"], status: null, deletedAt },
    ],
    scheduleEntries: LOCATIONS.map((location, ordinal) => ({
      monitorId: 1,
      location,
      intervalMs: INTERVAL_MS,
      phaseMs: (BEGIN + ordinal * 20_000) % INTERVAL_MS,
      plannedAt: planned(4, ordinal),
    })),
    checks: checks.map((row) => ({ ...row })),
    changes: changes.map((row) => ({ ...row })),
    incidents: [
      { id: 5, monitorId: 1, startedAt: planned(1, 0), confirmedAt: planned(1, 1) + 50, resolvedAt: planned(3, 0) },
    ],
    entries: entries.map((row) => ({ ...row })),
    events,
    deliveries: events.map(({ id }, index) => ({
      id: index + 1,
      eventId: id,
      recipient: "a@example.com",
      status: "delivered",
      isHeld: false,
      leaderId: null,
      lostAttempts: 0,
    })),
    mails: [{ deliveryId: 1 }, { deliveryId: 2 }],
    actions: [
      { kind: "pause", monitorId: 2, askedAt: pausedFrom - 50, answeredAt: pausedFrom, version: 1 },
      { kind: "resume", monitorId: 2, askedAt: BEGIN + 70_000, answeredAt: BEGIN + 70_050, version: 1 },
      { kind: "delete", monitorId: 2, askedAt: deletedAt - 50, answeredAt: deletedAt, version: 1 },
    ],
    answers: answers.map((row) => ({ ...row })),
    truth: new Map([[1, "up"]]),
    deadlocks: [],
    readAt: planned(3, 2) + 5_000,
  };
}
