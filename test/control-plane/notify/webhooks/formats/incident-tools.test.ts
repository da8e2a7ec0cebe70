import { describe, expect, it } from "vitest";
import { isOvertaken } from "#control-plane/notify/webhooks/formats/dedup.ts";
import { FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";
import type { FormatEvent } from "#control-plane/notify/webhooks/formats/format.ts";
import {
  AT,
  BASE,
  changedCertificate,
  EVENTS,
  monitorEvent,
  previousExpiry,
  targetOf,
  testEvent,
} from "#test/control-plane/notify/webhooks/formats/events.ts";

const DOWN = EVENTS["monitor.down"]!;
const UP = EVENTS["monitor.up"]!;
const DEGRADED = EVENTS["monitor.degraded"]!;
const QUICK = EVENTS["monitor.up after slowness"]!;

const PAGERDUTY = targetOf("https://events.pagerduty.com/v2/enqueue", { routing_key: "R".repeat(32) });
const OPSGENIE = targetOf("https://api.eu.opsgenie.com", { api_key: "key" });
const ALERTMANAGER = targetOf("https://alerts.example/api/v2/alerts");

const pagerduty = (event: FormatEvent) => JSON.parse(FORMATS.pagerduty.build(event, PAGERDUTY).body) as Sent;
const opsgenie = (event: FormatEvent) => FORMATS.opsgenie.build(event, OPSGENIE);
const alerts = (event: FormatEvent) => JSON.parse(FORMATS.alertmanager.build(event, ALERTMANAGER).body) as Posted[];

interface Sent {
  readonly event_action: string;
  readonly dedup_key: string;
  readonly payload?: { readonly severity: string; readonly summary: string };
}
interface Posted {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string };
  readonly startsAt?: string;
  readonly endsAt: string;
}

describe("PagerDuty", () => {
  it("gets a trigger for an outage", () => {
    expect(FORMATS.pagerduty.build(DOWN, PAGERDUTY)).toMatchObject({
      url: "https://events.pagerduty.com/v2/enqueue",
      headers: { "content-type": "application/json" },
    });
    expect(pagerduty(DOWN)).toEqual({
      routing_key: "R".repeat(32),
      event_action: "trigger",
      dedup_key: "vantage-0123456789ab-7",
      payload: {
        summary: "shop is down. Certificate not trusted from eu-west: certificate expired",
        source: "shop.example",
        severity: "critical",
        timestamp: "2026-11-23T02:41:12.000Z",
        class: "monitor.down",
        custom_details: {
          Cause: "Certificate not trusted from eu-west: certificate expired",
          Since: "2026-11-23 02:37:07 UTC",
          Reported: "2026-11-23 02:41:12 UTC",
          Target: "https://shop.example/ (http)",
          "Failing locations": ["eu-west: certificate expired 3 minutes ago, since 2026-11-23 02:37:07 UTC"],
        },
      },
      links: [
        { href: `${BASE}/app/incidents/12`, text: "Incident" },
        { href: `${BASE}/app/monitors/7`, text: "Monitor" },
      ],
      client: "Vantage",
      client_url: BASE,
    });
  });

  it("gets a resolve with the same key when the monitor is up again", () => {
    expect(pagerduty(UP)).toEqual({
      routing_key: "R".repeat(32),
      event_action: "resolve",
      dedup_key: "vantage-0123456789ab-7",
    });
  });

  it.each([
    ["monitor.down", "trigger", "vantage-0123456789ab-7", "critical"],
    ["monitor.up", "resolve", "vantage-0123456789ab-7", undefined],
    ["monitor.degraded", "trigger", "vantage-0123456789ab-7-degraded", "warning"],
    ["monitor.up after slowness", "resolve", "vantage-0123456789ab-7-degraded", undefined],
    ["ssl.expiring", "trigger", "vantage-0123456789ab-7-expiring-abababababababab", "warning"],
    ["ssl.expired", "trigger", "vantage-0123456789ab-7-expired-abababababababab", "critical"],
    ["ssl.chain_changed", "trigger", "vantage-0123456789ab-7-changed-abababababababab", "warning"],
    ["ssl.chain_changed by a renewal", "resolve", "vantage-0123456789ab-7-expiring-cdcdcdcdcdcdcdcd", undefined],
    ["domain.expiring", "trigger", "vantage-0123456789ab-7-domain-expiring", "warning"],
    ["domain.expired", "trigger", "vantage-0123456789ab-7-domain-expired", "critical"],
    ["visual.changed", "trigger", "vantage-0123456789ab-7-page", "warning"],
    ["monitor.unwatched", "trigger", "vantage-0123456789ab-7-unwatched", "warning"],
    ["monitor.watched", "resolve", "vantage-0123456789ab-7-unwatched", undefined],
    ["test", "trigger", "vantage-0123456789ab-test-evt_1", "info"],
  ])("for %s gets %s of %s, %s", (name, action, key, severity) => {
    const { event_action, dedup_key, payload } = pagerduty(EVENTS[name]!);
    expect([event_action, dedup_key, payload?.severity]).toEqual([action, key, severity]);
  });

  it("is paged for an outage after slowness: the open alert of low urgency does not take it in", () => {
    expect(pagerduty(DEGRADED).dedup_key).not.toBe(pagerduty(DOWN).dedup_key);
  });

  it("gets the renewal of a certificate as the end of its expiry", () => {
    const expiring = pagerduty(previousExpiry("ssl.expiring"));
    expect(pagerduty(changedCertificate(true)).dedup_key).toBe(expiring.dedup_key);
    const expired = pagerduty(previousExpiry("ssl.expired"));
    expect(pagerduty(changedCertificate(true, "2026-11-22T00:00:00.000Z")).dedup_key).toBe(expired.dedup_key);
  });

  it("shows each test, also while an earlier one is open", () => {
    expect(pagerduty(testEvent("evt_2")).dedup_key).not.toBe(pagerduty(testEvent("evt_1")).dedup_key);
  });

  it.each([
    ["https://events.eu.pagerduty.com", "https://events.eu.pagerduty.com/v2/enqueue"],
    ["https://proxy.example/pd?key=a", "https://proxy.example/pd?key=a"],
  ])("at %s is asked at %s", (url, asked) => {
    expect(FORMATS.pagerduty.build(DOWN, { ...PAGERDUTY, url }).url).toBe(asked);
  });
});

describe("Opsgenie", () => {
  it("gets an alert for an outage", () => {
    const { url, headers, body } = opsgenie(DOWN);
    expect([url, headers]).toEqual([
      "https://api.eu.opsgenie.com/v2/alerts",
      { "content-type": "application/json", authorization: "GenieKey key" },
    ]);
    expect(JSON.parse(body)).toEqual({
      message: "shop is down. Certificate not trusted from eu-west: certificate expired",
      alias: "vantage-0123456789ab-7",
      description: [
        "shop is down.",
        `Incident: ${BASE}/app/incidents/12`,
        `Monitor: ${BASE}/app/monitors/7`,
        "Cause: Certificate not trusted from eu-west: certificate expired",
        "Since: 2026-11-23 02:37:07 UTC",
        "Reported: 2026-11-23 02:41:12 UTC",
        "Target: https://shop.example/ (http)",
        "Failing locations:",
        "- eu-west: certificate expired 3 minutes ago, since 2026-11-23 02:37:07 UTC",
      ].join("\n"),
      tags: ["vantage", "monitor.down"],
      details: { event_id: "evt_1", monitor_id: "7" },
      entity: "shop.example",
      source: "Vantage",
      priority: "P1",
    });
  });

  it("gets its alert closed by alias when the monitor is up again", () => {
    const { url, headers, body } = opsgenie(UP);
    expect(url).toBe("https://api.eu.opsgenie.com/v2/alerts/vantage-0123456789ab-7/close?identifierType=alias");
    expect(headers).toEqual({ "content-type": "application/json", authorization: "GenieKey key" });
    const { source, note } = JSON.parse(body) as { readonly source: string; readonly note: string };
    expect([source, note.split("\n")[0]]).toEqual(["Vantage", "shop is up again after 4 min."]);
  });

  it.each([
    ["monitor.degraded", "vantage-0123456789ab-7-degraded", "P3"],
    ["ssl.expiring", "vantage-0123456789ab-7-expiring-abababababababab", "P3"],
    ["ssl.expired", "vantage-0123456789ab-7-expired-abababababababab", "P1"],
    ["ssl.chain_changed", "vantage-0123456789ab-7-changed-abababababababab", "P3"],
    ["domain.expiring", "vantage-0123456789ab-7-domain-expiring", "P3"],
    ["domain.expired", "vantage-0123456789ab-7-domain-expired", "P1"],
    ["visual.changed", "vantage-0123456789ab-7-page", "P3"],
    ["test", "vantage-0123456789ab-test-evt_1", "P5"],
  ])("for %s gets the alert %s of priority %s", (name, alias, priority) => {
    const { url, body } = opsgenie(EVENTS[name]!);
    expect(url).toBe("https://api.eu.opsgenie.com/v2/alerts");
    expect(JSON.parse(body)).toMatchObject({ alias, priority });
  });

  it.each([
    ["monitor.up after slowness", "vantage-0123456789ab-7-degraded"],
    ["ssl.chain_changed by a renewal", "vantage-0123456789ab-7-expiring-cdcdcdcdcdcdcdcd"],
  ])("for %s gets %s closed", (name, alias) => {
    expect(opsgenie(EVENTS[name]!).url).toContain(`/v2/alerts/${alias}/close?identifierType=alias`);
  });

  it.each(["https://api.opsgenie.com/", "https://api.opsgenie.com/v2/alerts", "https://api.opsgenie.com/v2/alerts/"])(
    "can be written as %s",
    (url) => {
      const target = { ...OPSGENIE, url };
      expect(FORMATS.opsgenie.build(DOWN, target).url).toBe("https://api.opsgenie.com/v2/alerts");
      const closing = "https://api.opsgenie.com/v2/alerts/vantage-0123456789ab-7/close?identifierType=alias";
      expect(FORMATS.opsgenie.build(UP, target).url).toBe(closing);
    },
  );
});

describe("Jira Service Management", () => {
  const JSM = targetOf("https://api.atlassian.com", { api_key: "key" });

  it.each(["monitor.down", "monitor.up", "ssl.chain_changed by a renewal", "test"])(
    "for %s gets what Opsgenie gets, at its own path",
    (name) => {
      const sent = FORMATS.jsm.build(EVENTS[name]!, JSM);
      const { url, ...same } = opsgenie(EVENTS[name]!);
      expect(sent).toEqual({
        ...same,
        url: url.replace(OPSGENIE.url, "https://api.atlassian.com/jsm/ops/integration"),
      });
    },
  );

  it.each([
    "https://api.atlassian.com/",
    "https://api.atlassian.com/jsm/ops/integration",
    "https://api.atlassian.com/jsm/ops/integration/",
    "https://api.atlassian.com/jsm/ops/integration/v2",
    "https://api.atlassian.com/jsm/ops/integration/v2/alerts",
  ])("can be written as %s", (url) => {
    const target = { ...JSM, url };
    const asked = "https://api.atlassian.com/jsm/ops/integration/v2/alerts";
    expect(FORMATS.jsm.build(DOWN, target).url).toBe(asked);
    expect(FORMATS.jsm.build(UP, target).url).toBe(`${asked}/vantage-0123456789ab-7/close?identifierType=alias`);
  });

  it("keeps the path of a proxy, also one that ends like the beginning of a name", () => {
    const at = (url: string) => FORMATS.jsm.build(DOWN, { ...JSM, url }).url;
    expect(at("https://proxy.example/a")).toBe("https://proxy.example/a/jsm/ops/integration/v2/alerts");
    expect(at("https://proxy.example/myjsm")).toBe("https://proxy.example/myjsm/jsm/ops/integration/v2/alerts");
    expect(at("https://proxy.example/x/jsm?a=b")).toBe("https://proxy.example/x/jsm/ops/integration/v2/alerts?a=b");
  });
});

describe("incident.io", () => {
  const url = "https://api.incident.io/v2/alert_events/http/01GW2G3V0S59R238FAHPDS1R66";
  const INCIDENT_IO = targetOf(url, { token: "some-random-string" });
  const incidentIo = (event: FormatEvent) => FORMATS["incident-io"].build(event, INCIDENT_IO);

  it("gets a firing alert for an outage at the address of its source", () => {
    const sent = incidentIo(DOWN);
    expect([sent.url, sent.headers]).toEqual([
      url,
      { "content-type": "application/json", authorization: "Bearer some-random-string" },
    ]);
    expect(JSON.parse(sent.body)).toEqual({
      title: "shop is down. Certificate not trusted from eu-west: certificate expired",
      description: [
        "Cause∶ Certificate not trusted from eu-west∶ certificate expired",
        "Since∶ 2026-11-23 02∶37∶07 UTC",
        "Reported∶ 2026-11-23 02∶41∶12 UTC",
        "Target∶ https∶//shop.example/ \\(http\\)",
        "Failing locations∶",
        "- eu-west∶ certificate expired 3 minutes ago, since 2026-11-23 02∶37∶07 UTC",
      ].join("  \n"),
      deduplication_key: "vantage-0123456789ab-7",
      status: "firing",
      metadata: {
        severity: "critical",
        source: "shop.example",
        event_type: "monitor.down",
        event_id: "evt_1",
        monitor_id: "7",
      },
      source_url: `${BASE}/app/incidents/12`,
    });
  });

  it.each([
    ["monitor.up", "resolved", "vantage-0123456789ab-7"],
    ["monitor.degraded", "firing", "vantage-0123456789ab-7-degraded"],
    ["monitor.up after slowness", "resolved", "vantage-0123456789ab-7-degraded"],
    ["ssl.expired", "firing", "vantage-0123456789ab-7-expired-abababababababab"],
    ["ssl.chain_changed by a renewal", "resolved", "vantage-0123456789ab-7-expiring-cdcdcdcdcdcdcdcd"],
    ["test", "firing", "vantage-0123456789ab-test-evt_1"],
  ])("for %s gets %s of %s", (name, status, key) => {
    expect(JSON.parse(incidentIo(EVENTS[name]!).body)).toMatchObject({ status, deduplication_key: key });
  });
});

describe("a provider that keeps alerts", () => {
  it("is one of these", () => {
    const keeping = Object.values(FORMATS).filter(({ keepsAlerts }) => keepsAlerts === true);
    expect(keeping.map(({ name }) => name)).toEqual(["pagerduty", "opsgenie", "jsm", "incident-io", "alertmanager"]);
  });
});

describe("Alertmanager", () => {
  const labels = {
    alertname: "VantageMonitorDown",
    severity: "critical",
    monitor_id: "7",
    vantage_key: "vantage-0123456789ab-7",
  };

  it("gets an alert for an outage that does not end by itself within minutes", () => {
    const { url, headers } = FORMATS.alertmanager.build(DOWN, targetOf("https://alerts.example"));
    expect([url, headers]).toEqual(["https://alerts.example/api/v2/alerts", { "content-type": "application/json" }]);
    expect(alerts(DOWN)).toEqual([
      {
        labels,
        annotations: {
          summary: "shop is down. Certificate not trusted from eu-west: certificate expired",
          description: [
            "Cause: Certificate not trusted from eu-west: certificate expired",
            "Since: 2026-11-23 02:37:07 UTC",
            "Reported: 2026-11-23 02:41:12 UTC",
            "Target: https://shop.example/ (http)",
            "Failing locations:",
            "- eu-west: certificate expired 3 minutes ago, since 2026-11-23 02:37:07 UTC",
          ].join("\n"),
        },
        generatorURL: `${BASE}/app/incidents/12`,
        startsAt: "2026-11-23T02:37:07.000Z",
        endsAt: "2026-12-23T02:41:12.000Z",
      },
    ]);
  });

  it("gets the end of the outage and of the slowness before it when the monitor is up again", () => {
    const [outage, slowness, ...others] = alerts(UP);
    expect(outage).toMatchObject({ labels, startsAt: "2026-11-23T02:37:07.000Z", endsAt: "2026-11-23T02:40:12.000Z" });
    expect(slowness?.labels).toEqual(alerts(DEGRADED)[0]?.labels);
    expect(others).toEqual([]);
    expect(outage?.annotations.summary).toBe("shop is up again after 4 min.");
  });

  it("gets an end that no clock takes for the future, and never one before the beginning", () => {
    const at = (recoveredAt: number, startedAt: number) =>
      alerts(monitorEvent({ kind: "up", previous: "down", startedAt, recoveredAt }))[0]?.endsAt;
    expect(at(AT - 100_000, AT - 245_000)).toBe("2026-11-23T02:39:32.000Z");
    expect(at(AT, AT - 245_000)).toBe("2026-11-23T02:40:12.000Z");
    expect(at(AT, AT - 20_000)).toBe("2026-11-23T02:40:52.000Z");
    expect(alerts(QUICK)[0]).not.toHaveProperty("startsAt");
    expect(alerts(QUICK)[0]?.endsAt).toBe("2026-11-23T02:40:12.000Z");
  });

  it("has the same labels for an alert and its end, whatever the monitor is called by then", () => {
    const monitor = { id: 7, name: "renamed", url: "https://other.example/", check_type: "http" };
    const renamed = monitorEvent({ kind: "up", previous: "down", recoveredAt: AT, monitor });
    expect(alerts(renamed)[0]?.labels).toEqual(labels);
    expect(alerts(QUICK)[0]?.labels).toEqual(alerts(DEGRADED)[0]?.labels);
  });

  it("gets the end of the expiry of a certificate with the news of another one", () => {
    const [changed, over] = alerts(changedCertificate(false));
    expect(changed?.labels["alertname"]).toBe("VantageCertificateChanged");
    expect(over?.labels).toEqual(alerts(previousExpiry("ssl.expiring"))[0]?.labels);
    expect(Date.parse(over?.endsAt ?? "")).toBeLessThan(AT);
    const [expired, expiring] = alerts(changedCertificate(true, "2026-11-22T00:00:00.000Z"));
    expect(expired?.labels).toEqual(alerts(previousExpiry("ssl.expired"))[0]?.labels);
    expect(expiring?.labels).toEqual(alerts(previousExpiry("ssl.expiring"))[0]?.labels);
  });

  it.each([
    ["monitor.degraded", "VantageMonitorDegraded", "warning", 720],
    ["ssl.expiring", "VantageCertificateExpiring", "warning", 720],
    ["ssl.expired", "VantageCertificateExpired", "critical", 720],
    ["ssl.chain_changed", "VantageCertificateChanged", "warning", 1],
    ["domain.expiring", "VantageDomainExpiring", "warning", 720],
    ["domain.expired", "VantageDomainExpired", "critical", 720],
    ["visual.changed", "VantagePageChanged", "warning", 1],
    ["test", "VantageTest", "info", 1],
  ])("for %s gets %s, %s, firing for %i h", (name, alertname, severity, hours) => {
    const [first] = alerts(EVENTS[name]!);
    expect(first?.labels).toMatchObject({ alertname, severity });
    expect(Date.parse(first?.endsAt ?? "") - AT).toBe(hours * 3_600_000);
  });
});

describe("an event that is attempted again", () => {
  it.each([
    ["an outage that is over", DOWN, UP],
    ["the end of an outage after which the next has begun", UP, DOWN],
    ["slowness that an outage and its end have followed", DEGRADED, UP],
  ])("is overtaken if it is %s", (_name, event, later) => {
    expect(isOvertaken(event, [later])).toBe(true);
  });

  it.each([
    ["nothing is later", DOWN, []],
    ["what is later is about another alert", DOWN, [DEGRADED, QUICK]],
    ["it is a test", testEvent(), [DOWN, UP]],
  ])("is sent if %s", (_name, event, later) => {
    expect(isOvertaken(event, later)).toBe(false);
  });
});
