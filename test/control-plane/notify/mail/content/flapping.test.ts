import { describe, expect, it } from "vitest";
import { toMonitorEvent, type MonitorChangeFacts } from "#control-plane/notify/events/monitor-event.ts";
import { writeDigest } from "#control-plane/notify/mail/content/digest.ts";
import { readNotice, type Notice } from "#control-plane/notify/mail/content/event-body.ts";
import { renderText } from "#control-plane/notify/mail/content/letter.ts";
import { writeNotice } from "#control-plane/notify/mail/content/notice.ts";

const BASE = "https://vantage.example";
const AT = Date.parse("2026-11-23T02:41:12Z");

function noticeOf(change: Pick<MonitorChangeFacts, "kind"> & Partial<MonitorChangeFacts>): Notice {
  const monitor = { id: 7, name: "Shop", url: "https://shop.example/", check_type: "http" };
  const none = { startedAt: null, recoveredAt: null, incidentId: null, cause: null, failing: [], responseMs: null };
  const facts = { accountId: 1, monitor, at: AT, previous: "up", isFlapping: true, ...none, ...change } as const;
  const { type, createdAt, data } = toMonitorEvent(facts);
  return readNotice({ id: "evt_1", type, body: JSON.stringify({ created_at: createdAt.toISOString(), data }) });
}

describe("the mail about a flapping monitor", () => {
  it.each([
    ["begins", "Flapping: Shop", "Shop is flapping: it changed more than 4 times within an hour. Now it is down."],
    ["lasts", "Still flapping: Shop", "Shop is still flapping. Now it is down."],
    ["ends", "No longer flapping, down: Shop", "Shop is no longer flapping. It is down."],
  ] as const)("when that %s has the subject %s", (phase, subject, headline) => {
    const notice = noticeOf({ kind: "flapping", current: "down", phase });
    const letter = writeNotice(notice, BASE);
    expect(letter.subject).toBe(subject);
    expect(letter.headline).toBe(headline);
  });

  it("lists the changes that have waited for it", () => {
    const changes = [
      noticeOf({ kind: "down", cause: { code: "http_status", message: "HTTP 503 instead of 200" } }),
      noticeOf({ kind: "up", previous: "down" }),
    ] as const;
    const notice = noticeOf({ kind: "flapping", current: "up", phase: "lasts" });
    const letter = writeDigest([...changes, notice], 3, { baseUrl: BASE, linkOf: () => `${BASE}/i/token` });
    expect(letter.subject).toBe("Still flapping: Shop");
    const text = renderText(letter);
    expect(text).toContain("Shop is still flapping. Now it is up.");
    expect(letter.list?.items).toEqual([
      "2026-11-23 02:41:12 UTC Down (HTTP 503 instead of 200)",
      "2026-11-23 02:41:12 UTC Recovered",
    ]);
  });
});
