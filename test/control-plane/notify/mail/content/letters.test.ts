import { describe, expect, it } from "vitest";
import { toMonitorEvent, type MonitorChangeFacts } from "#control-plane/notify/events/monitor-event.ts";
import { toChangedEvent } from "#control-plane/notify/events/visual-event.ts";
import { writeConfirmation } from "#control-plane/notify/mail/content/confirmation.ts";
import { writeDigest } from "#control-plane/notify/mail/content/digest.ts";
import { readNotice, type Notice } from "#control-plane/notify/mail/content/event-body.ts";
import type { HeartbeatFacts } from "#control-plane/notify/mail/content/heartbeat.ts";
import { renderHtml, renderText } from "#control-plane/notify/mail/content/letter.ts";
import { writeNotice } from "#control-plane/notify/mail/content/notice.ts";

const BASE = "https://status.example.com";
/** Where the digests of these tests lead. */
const LINKS = { baseUrl: BASE, linkOf: ({ eventId }: Notice) => `${BASE}/i/${eventId}` };
const AT = Date.parse("2026-11-23T02:41:12Z");
const MONITOR = { id: 3, name: "shop", url: "https://shop.example.com/", check_type: "http" };
const CAUSE = { code: "tls_certificate_expired", message: "Certificate not trusted from eu-west: certificate expired" };
const FAULT = { stage: "tls", source: "target", reason: "expired", message: "certificate expired 3 minutes ago" };
const DOWN: MonitorChangeFacts = {
  kind: "down",
  accountId: 1,
  monitor: MONITOR,
  at: AT,
  previous: "up",
  startedAt: AT - 5_000,
  recoveredAt: null,
  incidentId: 12,
  cause: CAUSE,
  failing: [{ location: "eu-west", fault: FAULT, since: AT - 5_000 }],
  responseMs: null,
  isFlapping: false,
};

/** Reads a change as a mail sees it: from the body of its event. */
function noticeOf(change: Partial<MonitorChangeFacts> = {}): Notice {
  const { type, createdAt, data } = toMonitorEvent({ ...DOWN, ...change });
  const body = JSON.stringify({ id: "evt_1", type, created_at: createdAt.toISOString(), api_version: "4.0", data });
  return readNotice({ id: "evt_1", type, body });
}
const textOf = (change: Partial<MonitorChangeFacts> = {}): string => renderText(writeNotice(noticeOf(change), BASE));

describe("the mail about an outage", () => {
  it("says what, where, since when and why, and where to go", () => {
    expect(textOf()).toBe(`shop is down.

Cause:    Certificate not trusted from eu-west: certificate expired
Since:    2026-11-23 02:41:07 UTC
Reported: 2026-11-23 02:41:12 UTC
Target:   https://shop.example.com/ (http)

Failing locations:
- eu-west: certificate expired 3 minutes ago, since 2026-11-23 02:41:07 UTC

Incident: ${BASE}/app/incidents/12
Monitor:  ${BASE}/app/monitors/3

-- 
This address gets the notices of this monitor from Vantage at ${BASE}.
`);
  });

  it("names the first and the last cause at its end, where they differ", () => {
    const over = { kind: "up", previous: "down", recoveredAt: AT, failing: [] } as const;
    const last = { code: "connect_refused", message: "Connection refused in eu-west (port 443)" };
    expect(textOf({ ...over, causeNow: last })).toContain(
      `First cause: ${CAUSE.message}\nLast cause:  ${last.message}\n`,
    );
    expect(textOf({ ...over, causeNow: CAUSE })).toMatch(/^Cause: +Certificate not trusted/m);
  });

  it("that has not begun is an advisory: it says that the monitor is up, and where it fails", () => {
    const advisory = {
      since: new Date(AT - 60_000),
      locations: ["eu-west"],
      message: "The check fails in eu-west only: x",
    };
    const change = { kind: "advisory", previous: "up", startedAt: null, incidentId: null, advisory } as const;
    const letter = writeNotice(noticeOf(change), BASE);
    expect(letter.subject).toBe("Advisory: shop");
    expect(letter.headline).toBe("shop is up, with an advisory. The check fails in eu-west only: x");
    expect(letter.facts).toContainEqual(["Since", "2026-11-23 02:40:12 UTC"]);
    expect(letter.list?.items).toHaveLength(1);
  });

  it("of a heartbeat names neither a target nor a location", () => {
    const message = "no ping arrived by 2026-11-23 02:41:07 UTC";
    const fault = { stage: "request", source: "target", reason: "heartbeat_late", message };
    const change = {
      monitor: { id: 3, name: "backup", url: "", check_type: "heartbeat" },
      cause: { code: "heartbeat_late", message: "No ping arrived by 2026-11-23 02:41:07 UTC" },
      failing: [{ location: "heartbeat", fault, since: AT - 5_000 }],
    };
    expect(textOf(change)).toBe(`backup is down.

Cause:    No ping arrived by 2026-11-23 02:41:07 UTC
Since:    2026-11-23 02:41:07 UTC
Reported: 2026-11-23 02:41:12 UTC

Incident: ${BASE}/app/incidents/12
Monitor:  ${BASE}/app/monitors/3

-- 
This address gets the notices of this monitor from Vantage at ${BASE}.
`);
    const flapping = noticeOf({ ...change, isFlapping: true });
    expect(renderText(writeDigest([flapping, flapping], 2, LINKS))).not.toContain("Target");
  });

  it.each<[MonitorChangeFacts["kind"], Partial<MonitorChangeFacts>, string, string]>([
    ["down", {}, "Down: shop - Certificate not trusted: certificate expired", "shop is down."],
    [
      "reminder",
      { startedAt: AT - 7_500_000 },
      "Still down: shop - Certificate not trusted: certificate expired",
      "shop is still down, for 2 h 5 min.",
    ],
    ["up", { recoveredAt: AT }, "Recovered: shop - after 5 s", "shop is up again after 5 s."],
    [
      "degraded",
      { startedAt: null, responseMs: 4_200, limitMs: 2_000 },
      "Degraded: shop - 4200 ms, the limit is 2000 ms",
      "shop responds slowly: 4200 ms, the limit is 2000 ms.",
    ],
    ["recovered_speed", { startedAt: null }, "No longer degraded: shop", "shop responds quickly again."],
  ])("has its words for %s", (kind, more, subject, headline) => {
    const letter = writeNotice(noticeOf({ kind, ...more }), BASE);
    expect(letter).toMatchObject({ subject, headline });
  });

  it("names the port of a check that has one, and no stop before what follows a sentence", () => {
    const monitor = { id: 3, name: "db", url: "db.example.com", check_type: "port" };
    const failing = [{ location: "eu-west", fault: { ...FAULT, message: "So no browser trusts it." }, since: AT }];
    const text = textOf({ monitor, port: 5_432, failing });
    expect(text).toMatch(/^Target: +db\.example\.com port 5432 \(port\)$/m);
    expect(text).toContain("eu-west: So no browser trusts it, since 2026");
  });

  it.each([
    ["HTTP 503 instead of 200 from eu-west", ["eu-west"], "HTTP 503 instead of 200"],
    [
      "No answer within 5 s from eu, eu-west and us; no address from de",
      ["eu", "eu-west", "us", "de"],
      "No answer within 5 s; no address",
    ],
    ["Connection refused from all 5 locations (port 443)", ["a"], "Connection refused (port 443)"],
    ["HTTP 500 instead of 200 from a, the only one of 3 locations that could check", ["a"], "HTTP 500 instead of 200"],
    ["Bad response from a: it came from elsewhere", ["a"], "Bad response: it came from elsewhere"],
  ])("has the cause without its locations in the subject: %s", (message, locations, reason) => {
    const failing = locations.map((location) => ({ location, fault: FAULT, since: AT }));
    const { subject } = writeNotice(noticeOf({ cause: { code: "x", message }, failing }), BASE);
    expect(subject).toBe(`Down: shop - ${reason}`);
  });

  it("says so if the monitor is flapping", () => {
    expect(textOf({ isFlapping: true })).toContain("The monitor is flapping");
    expect(textOf()).not.toContain("flapping");
  });

  it("escapes everything in HTML", () => {
    const hostile = '<script>alert("1")</script>';
    const monitor = { ...MONITOR, name: hostile, url: `https://a.example/${hostile}` };
    const failing = [{ location: hostile, fault: { ...FAULT, message: hostile }, since: AT }];
    const letter = writeNotice(noticeOf({ monitor, failing, cause: { code: "x", message: hostile } }), BASE);
    expect(String(renderHtml(letter))).not.toContain("<script");
    expect(String(renderHtml(letter))).toContain("&lt;script&gt;");
  });

  it("is one line for each fact, whatever names and causes contain", () => {
    const hostile = `a\r\nBcc: b@example.com\u2028\u202e${"x".repeat(10_000)}`;
    const monitor = { ...MONITOR, name: hostile, url: hostile };
    const failing = [{ location: "eu-west", fault: { ...FAULT, message: hostile }, since: AT }];
    const letter = writeNotice(noticeOf({ monitor, failing, cause: { code: "x", message: hostile } }), BASE);
    const text = renderText(letter);
    expect(text.split("\n").length).toBe(textOf().split("\n").length);
    expect(text).not.toMatch(/[\r\u2028\u202e]/);
    expect(letter.subject.length).toBeLessThanOrEqual("Down: ".length + 120 + " - ".length + 120);
    expect(text.length).toBeLessThan(5_000);
  });

  it("shows at most 50 locations", () => {
    const failing = Array.from({ length: 200 }, (_, n) => ({ location: `l${n}`, fault: FAULT, since: AT }));
    expect(textOf({ failing }).match(/^- /gm)).toHaveLength(50);
  });

  it("is readable if an older release wrote less, and for other events", () => {
    const body = JSON.stringify({ created_at: "2026-11-23T02:41:12Z", data: {} });
    expect(renderText(writeNotice(readNotice({ id: "e", type: "other.event", body }), BASE))).toContain(
      "other.event: monitor",
    );
  });
});

describe("the mail about a heartbeat", () => {
  const failed = {
    monitor: { id: 3, name: "backup", url: "", check_type: "heartbeat" },
    cause: { code: "heartbeat_failed", message: "The run failed with exit code 3" },
    failing: [],
  };
  const schedule = { cron: "30 2 * * *", timezone: "Europe/Berlin", period_seconds: 300, grace_seconds: 900 };
  const known = { schedule, lastSuccessAt: new Date(AT - 86_400_000), failingBody: "tar: no space\n\nexit 3\n" };
  const write = (heartbeat: HeartbeatFacts, change: Partial<MonitorChangeFacts> = {}): string =>
    renderText(writeNotice(noticeOf({ ...failed, ...change }), BASE, { evidence: null, heartbeat }));

  it("has its schedule, its grace time, its last success and what the failing ping said", () => {
    expect(write(known)).toBe(`backup is down.

Cause:        The run failed with exit code 3
Schedule:     30 2 * * * (Europe/Berlin)
Grace:        15 min
Last success: 2026-11-22 02:41:12 UTC
Since:        2026-11-23 02:41:07 UTC
Reported:     2026-11-23 02:41:12 UTC

The failing ping:
- tar: no space
- 
- exit 3

Incident:     ${BASE}/app/incidents/12
Monitor:      ${BASE}/app/monitors/3

-- 
This address gets the notices of this monitor from Vantage at ${BASE}.
`);
  });

  it("has at most ten lines of it, as plain text", () => {
    const lines = Array.from({ length: 40 }, (_, n) => `line ${n} \u001b[31m\u202e<b>${"x".repeat(900)}`);
    const heartbeat = { ...known, failingBody: lines.join("\r\n") };
    const letter = writeNotice(noticeOf(failed), BASE, { evidence: null, heartbeat });
    const text = renderText(letter);
    expect(text).toContain("The first 10 lines of the failing ping:\n- line 0 [31m <b>xx");
    expect(text.match(/^- /gm)).toHaveLength(10);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text.length).toBeLessThan(3_500);
    expect(String(renderHtml(letter))).not.toContain("<b>x");
  });

  it("names a period, and has no body where no ping failed, none has one, or the job works again", () => {
    const late = { code: "heartbeat_late", message: "No ping arrived by 2026-11-23 02:41:07 UTC" };
    const period = { ...known, schedule: { ...schedule, cron: null }, lastSuccessAt: null };
    expect(write(period, { cause: late })).toContain("Schedule:     every 5 min");
    expect(write(period, { cause: late })).toContain("Last success: none is known");
    expect(write(period, { cause: late })).not.toContain("failing ping");
    expect(write(known, { kind: "up", recoveredAt: AT })).not.toContain("failing ping");
    for (const failingBody of [null, "", " \n\u0000\n"]) {
      expect(write({ ...known, failingBody })).not.toContain("failing ping");
    }
  });
});

describe("the mail about a changed page", () => {
  it("says how much has changed, and links the pictures", () => {
    const change = {
      accountId: 1,
      monitor: { id: 3, name: "shop", url: "https://shop.example.com/" },
      at: new Date(AT),
    };
    const event = toChangedEvent(
      {
        ...change,
        location: "eu-west",
        ratio: 3.26,
        threshold: 0.1,
        acceptedId: 7,
        latestId: 8,
        differenceId: 9,
        mailTo: null,
      },
      BASE,
    );
    const body = JSON.stringify({ id: "evt_1", created_at: event.createdAt.toISOString(), data: event.data });
    const letter = writeNotice(readNotice({ id: "evt_1", type: event.type, body }), BASE);
    expect(letter.subject).toBe("Page changed: shop - 3.3 % of its pixels");
    expect(renderText(letter)).toBe(`shop looks different: 3.3 % of its pixels.

Time:             2026-11-23 02:41:12 UTC
Target:           https://shop.example.com/ (visual)
Location:         eu-west
Limit:            0.10 %

Accepted picture: ${BASE}/app/monitors/3/pictures/7
New picture:      ${BASE}/app/monitors/3/pictures/8
Difference:       ${BASE}/app/monitors/3/pictures/9
Monitor:          ${BASE}/app/monitors/3

-- 
This address gets the notices of this monitor from Vantage at ${BASE}.
`);
  });
});

describe("a digest", () => {
  const many = (count: number): readonly [Notice, ...Notice[]] => [
    noticeOf({ monitor: { ...MONITOR, id: 1, name: "m1" } }),
    ...Array.from({ length: count - 1 }, (_, n) => noticeOf({ monitor: { ...MONITOR, id: n + 2, name: `m${n + 2}` } })),
  ];

  it("has the number of its notices and their names", () => {
    const letter = writeDigest([...many(6), noticeOf({ kind: "up", recoveredAt: AT })], 7, LINKS);
    expect(letter.subject).toBe("6 down, 1 recovered: m1, m2, m3 and 4 more");
    const text = renderText(letter);
    for (let n = 1; n <= 6; n += 1) expect(text).toContain(`Down: m${n} (Certificate not trusted`);
    expect(text).toContain("2026-11-23 02:41:12 UTC Recovered: shop (after 5 s)\n");
  });

  it("names the first hundred and counts the others", () => {
    const letter = writeDigest(many(100), 250, LINKS);
    expect(letter.subject).toBe("250 notices: m1, m2, m3 and 247 more");
    const text = renderText(letter);
    expect(text.match(/^- .*Down: m/gm)).toHaveLength(100);
    expect(text).toContain("- and 150 more");
    expect(text).toContain("250 notices");
  });

  it("of one monitor is about its flapping", () => {
    const letter = writeDigest([noticeOf(), noticeOf({ kind: "up", recoveredAt: AT }), noticeOf()], 3, LINKS);
    expect(letter.subject).toBe("Flapping: shop - 3 changes, the last: Down");
    expect(letter.headline).toBe("shop is flapping: 3 changes.");
  });
});

it("the confirmation has a link and no text of the account", () => {
  const text = renderText(writeConfirmation("TOKEN", BASE));
  expect(text).toContain(`${BASE}/mail/confirm/TOKEN`);
});
