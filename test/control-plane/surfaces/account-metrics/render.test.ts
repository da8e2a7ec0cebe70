import { describe, expect, it } from "vitest";
import type { ScrapedMonitor } from "#control-plane/surfaces/account-metrics/scraped.ts";
import { SAMPLES } from "#control-plane/surfaces/account-metrics/families.ts";
import { renderScrape } from "#control-plane/surfaces/account-metrics/render.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

function makeMonitor(over: Partial<ScrapedMonitor> = {}): ScrapedMonitor {
  return {
    id: 7,
    name: "Shop",
    url: "https://shop.example/cart",
    checkType: "http",
    isActive: true,
    tags: ["env:prod", "team/web"],
    createdAt: new Date(NOW - 1e9),
    status: "up",
    isDegraded: false,
    isFlapping: false,
    locations: [],
    uptime: null,
    pings: null,
    expiry: null,
    ...over,
  };
}

function render(monitors: readonly ScrapedMonitor[], omitted = 0): string {
  return [...renderScrape({ monitors, omitted }, NOW)].join("");
}

/** Returns the samples of one family as lines. */
function samplesOf(family: string, ...monitors: readonly ScrapedMonitor[]): readonly string[] {
  return render(monitors)
    .split("\n")
    .filter((line) => line.startsWith(`${family}{`));
}

const NAME = 'monitor_id="7",monitor="Shop"';

describe("a scrape", () => {
  it("is empty for an account without monitors", () => {
    expect(render([])).toBe("");
  });

  it("never shows the query of a target, with or without a scheme", () => {
    for (const url of [
      "https://shop.example/hook?token=SECRET#x",
      "shop.example/hook?token=SECRET",
      " shop.example/hook?a\nSECRET",
    ]) {
      const [line] = samplesOf("vantage_monitor_info", makeMonitor({ url }));
      expect(line).toContain("shop.example/hook");
      expect(line).not.toContain("SECRET");
    }
  });

  it("has help and type before the samples of each family, and families without samples are left out", () => {
    const text = render([makeMonitor()]);
    expect(text).toContain(
      "# HELP vantage_monitor_active Whether the monitor is active: 0 while it is paused\n" +
        `# TYPE vantage_monitor_active gauge\nvantage_monitor_active{${NAME}} 1\n`,
    );
    expect(text).not.toContain("probe_success");
    expect(text.endsWith("\n")).toBe(true);
  });

  it("names target and tags once, in a series of its own", () => {
    expect(samplesOf("vantage_monitor_info", makeMonitor())).toEqual([
      `vantage_monitor_info{${NAME},check_type="http",target="https://shop.example/cart",tags=",env:prod,team/web,"} 1`,
    ]);
  });

  it("shows no user, query or fragment of a URL, which can hold secrets", () => {
    const [line] = samplesOf("vantage_monitor_info", makeMonitor({ url: "https://u:p4ss@shop.example/a?token=t0p#f" }));
    expect(line).toContain('target="https://shop.example/a"');
  });

  it("escapes quotes, backslashes and line feeds of names", () => {
    const [line] = samplesOf("vantage_monitor_active", makeMonitor({ name: 'a"b\\c\nd' }));
    expect(line).toContain('monitor="a\\"b\\\\c\\nd"');
  });

  it.each([
    ["up", "1"],
    ["down", "0"],
  ] as const)("of a monitor that is %s has vantage_monitor_up %s", (status, value) => {
    expect(samplesOf("vantage_monitor_up", makeMonitor({ status }))).toEqual([`vantage_monitor_up{${NAME}} ${value}`]);
  });

  it("of a monitor with an unknown status has no vantage_monitor_up", () => {
    expect(samplesOf("vantage_monitor_up", makeMonitor({ status: "unknown" }))).toEqual([]);
  });

  it("shows phases that add up to the response time, and one phase where there are none", () => {
    const location = {
      location: "eu-west",
      verdict: "up",
      checkedAt: new Date(NOW - 5_000),
      lagSeconds: 0.25,
      responseSeconds: 0.06,
      phases: [
        ["dns", 0.01],
        ["processing", 0.05],
      ],
    } as const;
    const locations = [location, { ...location, location: "us-east", verdict: "down", phases: null }] as const;
    const monitor = makeMonitor({ locations });
    expect(samplesOf("probe_duration_seconds", monitor)).toEqual([
      `probe_duration_seconds{${NAME},location="eu-west",phase="dns"} 0.01`,
      `probe_duration_seconds{${NAME},location="eu-west",phase="processing"} 0.05`,
      `probe_duration_seconds{${NAME},location="us-east",phase="total"} 0.06`,
    ]);
    expect(samplesOf("probe_success", monitor)).toEqual([
      `probe_success{${NAME},location="eu-west"} 1`,
      `probe_success{${NAME},location="us-east"} 0`,
    ]);
    expect(samplesOf("vantage_monitor_schedule_lag_seconds", monitor)[0]).toMatch(/ 0\.25$/);
    expect(samplesOf("vantage_monitor_last_check_timestamp_seconds", monitor)[0]).toMatch(/ 1772366395$/);
  });

  it("has no probe series of a location whose newest verdict is too old", () => {
    const old = { checkedAt: new Date(NOW - 1e7), lagSeconds: 0, responseSeconds: 0.1, phases: null };
    const monitor = makeMonitor({ locations: [{ location: "eu-west", verdict: null, ...old }] });
    expect(samplesOf("probe_success", monitor)).toEqual([]);
    expect(samplesOf("probe_duration_seconds", monitor)).toEqual([]);
    expect(samplesOf("vantage_monitor_last_check_timestamp_seconds", monitor)).toHaveLength(1);
  });

  it("has uptimes as ratios, and none for a window without known time", () => {
    const uptime = { d1: 100, d7: 99.957, d30: null, d90: 0 };
    expect(samplesOf("vantage_monitor_uptime_ratio", makeMonitor({ uptime }))).toEqual([
      `vantage_monitor_uptime_ratio{${NAME},window="1d"} 1`,
      `vantage_monitor_uptime_ratio{${NAME},window="7d"} 0.99957`,
      `vantage_monitor_uptime_ratio{${NAME},window="90d"} 0`,
    ]);
  });

  it("has the age of a heartbeat, also if the clock of its ping is ahead, and its deadline", () => {
    const deadlineAt = new Date(NOW + 60_000);
    const age = (lastPingAt: Date | null) =>
      samplesOf("vantage_heartbeat_age_seconds", makeMonitor({ pings: { lastPingAt, deadlineAt } }));
    expect(age(new Date(NOW - 1_500))[0]).toMatch(/ 1\.5$/);
    expect(age(new Date(NOW + 500))[0]).toMatch(/ 0$/);
    expect(age(null)).toEqual([]);
    const monitor = makeMonitor({ pings: { lastPingAt: null, deadlineAt } });
    expect(samplesOf("vantage_heartbeat_deadline_timestamp_seconds", monitor)[0]).toMatch(/ 1772366460$/);
  });

  it("says how many monitors are left out, also if none is shown", () => {
    expect(render([makeMonitor()])).toMatch(/^vantage_metrics_omitted_monitors 0$/m);
    expect(render([makeMonitor()], 12)).toMatch(/^vantage_metrics_omitted_monitors 12$/m);
    expect(render([], 3)).toMatch(/^# HELP vantage_metrics_omitted_monitors .*\n# TYPE .*\n.* 3\n$/);
  });

  it("of a monitor of which everything is known has as many samples as its limit counts", () => {
    const at = new Date(NOW);
    const measured = { verdict: "up", checkedAt: at, lagSeconds: 1, responseSeconds: 5 } as const;
    const phases = (["redirect", "dns", "connect", "tls", "processing"] as const).map((phase) => [phase, 1] as const);
    const locations = ["eu-west", "us-east"].map((location) => ({ location, ...measured, phases }));
    const whole = makeMonitor({
      uptime: { d1: 1, d7: 1, d30: 1, d90: 1 },
      pings: { lastPingAt: at, deadlineAt: at },
      expiry: { certificate: at, domain: at },
      locations,
    });
    const count = (text: string) => text.split("\n").filter((line) => line.includes("monitor_id=")).length;
    expect(count(render([{ ...whole, locations: [] }]))).toBe(SAMPLES.perMonitor);
    expect(count(render([whole]))).toBe(SAMPLES.perMonitor + 2 * SAMPLES.perLocation);
  });

  it("is rendered in parts of eight monitors and one family, between which other work can run", () => {
    const monitors = Array.from({ length: 50 }, (_, id) => makeMonitor({ id }));
    const parts = [...renderScrape({ monitors, omitted: 0 }, NOW)];
    const most = Math.max(...parts.map((part) => part.split("\n").filter((line) => line.includes("{")).length));
    expect(most).toBe(8);
  });

  it("has the times at which certificate and domain expire", () => {
    const expiry = { certificate: new Date(NOW + 86_400_000), domain: null };
    const monitor = makeMonitor({ expiry });
    expect(samplesOf("vantage_certificate_expiry_timestamp_seconds", monitor)[0]).toMatch(/ 1772452800$/);
    expect(samplesOf("vantage_domain_expiry_timestamp_seconds", monitor)).toEqual([]);
  });
});
