import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import type { MonitorStatus } from "#control-plane/watching/checking/monitor-status.ts";
import type { ExpiryDetails } from "#control-plane/watching/expiry/read/expiry-details.ts";
import { showMonitor } from "#control-plane/monitors/serialize.ts";

const AT = new Date("2026-01-01T00:00:00Z");
const STATE: MonitorStatus = {
  status: "unknown",
  isDegraded: false,
  isFlapping: false,
  advisory: null,
  lastCheckedAt: AT,
  nextCheckAt: AT,
  scheduleLagMs: 0,
  lastChangeAt: null,
  lastError: null,
};
const PAUSED = {
  reason: "rate_limited",
  message: "The registry could not be asked about a.example: too many questions.",
  failed_since: AT.toISOString(),
  next_look_at: AT.toISOString(),
};

function lastError(state: Partial<MonitorStatus>, domainError: ExpiryDetails["domain_error"], isActive = true) {
  const record = { id: 1, version: 1, accountId: 1, name: "d", url: "a.example", checkType: "domain" } as const;
  const rest = { intervalMinutes: 5, isActive, pausedReason: null, tags: [], dependsOn: null, secrets: null };
  const monitor = { ...record, ...rest, settings: DEFAULT_SETTINGS, createdAt: AT, updatedAt: AT };
  const expiry = { certificate: null, domain: null, certificate_error: null, domain_error: domainError };
  return showMonitor(monitor, {
    secrets: { request_headers: {}, body: null },
    state: { ...STATE, ...state },
    statistics: null,
    heartbeat: null,
    expiry,
    pictures: null,
    members: [],
    notify: { notify_emails: [], notify_state: "ok" },
  }).last_error;
}

describe("the last error of a domain monitor", () => {
  it("says why nothing is known about the domain", () => {
    const { reason, message } = PAUSED;
    expect(lastError({}, PAUSED)).toEqual({ stage: "response", source: "service", reason, message });
    expect(lastError({}, null)).toMatchObject({ source: "service", reason: "no_registration_data" });
  });

  it("is none before the first check, while it is known, and while the monitor is paused", () => {
    expect(lastError({ lastCheckedAt: null }, null)).toBeNull();
    expect(lastError({ status: "up" }, PAUSED)).toBeNull();
    expect(lastError({}, PAUSED, false)).toBeNull();
  });

  it("is the fault of the newest failing check if there is one", () => {
    const fault = {
      stage: "response",
      source: "target",
      reason: "expired",
      message: "the domain has expired",
    } as const;
    expect(lastError({ status: "down", lastError: fault }, PAUSED)).toEqual(fault);
  });
});
