import { describe, expect, it } from "vitest";
import { MONITOR_CHECKS } from "#shared/monitor-checks/list.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import type { WatchedMonitor } from "#control-plane/watching/checking/watch/watched.ts";
import { monitorCall } from "#control-plane/watching/checking/watch/monitor-call.ts";

const SETTINGS: MonitorSettings = { ...DEFAULT_SETTINGS, locations: ["eu-west"] };
const NO_SECRETS = { request_headers: {}, body: null };

const call = (
  monitor: Partial<Pick<WatchedMonitor, "url" | "checkType">>,
  settings: Partial<MonitorSettings> = {},
  secrets = NO_SECRETS,
  known: "up" | "down" | null = "up",
  alwaysWhole = false,
) =>
  monitorCall(
    { url: "https://example.com/", checkType: "http", ...monitor, settings: { ...SETTINGS, ...settings } },
    secrets,
    known,
    alwaysWhole,
  );

describe("the call of a monitor's check", () => {
  it("has every parameter that the agent needs for http", () => {
    const secrets = { request_headers: { Authorization: "Bearer x" }, body: "{}" } as never;
    const { contract, params } = call({}, { method: "POST", expected_codes: [201, "300-399"] }, secrets, null, true);
    expect(contract).toBe(MONITOR_CHECKS["monitor-http"]);
    expect(params).toEqual({
      url: "https://example.com/",
      method: "POST",
      follow: true,
      headers: [["Authorization", "Bearer x"]],
      body: "{}",
      expected: [
        [201, 201],
        [300, 399],
      ],
      keyword: null,
      keyword_mode: "present",
      json: null,
      timeout_seconds: 15,
      known: null,
      always_whole: true,
    });
  });

  it("uses the same contract for keyword, with its conditions", () => {
    const json = { path: "$.status", op: "equals", value: "ok" } as const;
    const { contract, params } = call({ checkType: "keyword" }, { keyword: "Grüße", keyword_mode: "absent", json });
    expect(contract.name).toBe("monitor-http");
    expect(params).toMatchObject({ keyword: "Grüße", keyword_mode: "absent", json, expected: [[200, 200]] });
  });

  it("looks up A records without a dns condition", () => {
    const { contract, params } = call({ checkType: "dns", url: "example.com" });
    expect(contract.name).toBe("monitor-dns");
    expect(params).toMatchObject({ domain: "example.com", type: "A", op: "any", values: [], dnssec: "not_bogus" });
    const dns = { type: "MX", op: "contains", values: ["10 mail.example.com"], dnssec: "secure" } as const;
    expect(call({ checkType: "dns", url: "example.com" }, { dns }).params).toMatchObject({
      ...dns,
      domain: "example.com",
    });
  });

  it("has host, and port, for ping and port", () => {
    const known = { timeout_seconds: 15, known: "down", always_whole: false };
    const ping = call({ checkType: "ping", url: "example.com" }, {}, NO_SECRETS, "down");
    expect([ping.contract.name, ping.params]).toEqual(["monitor-ping", { host: "example.com", ...known }]);
    const port = call({ checkType: "port", url: "192.0.2.1" }, { port: 5432 }, NO_SECRETS, "down");
    expect([port.contract.name, port.params]).toEqual(["monitor-port", { host: "192.0.2.1", port: 5432, ...known }]);
  });

  it("has the deadline of the monitor's time limit and of the agent's self-test", () => {
    const { contract, params } = call({}, { timeout_seconds: 3 });
    expect(contract.deadlineMs(params)).toBe(3_000 + (contract.reserveMs ?? 0));
  });

  it("throws for settings that no contract allows, and names the field", () => {
    expect(() => call({ checkType: "port" }, { port: null })).toThrow(/monitor-port: port/);
    expect(() => call({}, { timeout_seconds: 0 })).toThrow(/monitor-http: timeout_seconds/);
    expect(() => call({}, { expected_codes: ["abc"] })).toThrow(/monitor-http: expected/);
  });
});
