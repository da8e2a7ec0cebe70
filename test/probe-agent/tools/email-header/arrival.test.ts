import { describe, expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";

/** Time of the analysis, years after the messages below. */
const NOW = new Date("2026-11-22T12:00:00Z");
const T = Date.parse("2024-01-02T09:00:00Z") / 1000;
const DAY = 86_400;

const hop = (date: string): string => `Received: from a.example (a.example [11.0.2.1]) by mx.example; ${date}`;
const signed = (tags: string): string =>
  `DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; ${tags} h=from; bh=QUJD; b=QUJD`;
const DATE = "Date: Tue, 2 Jan 2024 09:00:00 +0000";
const FROM = "From: a@b.example";

function analyse(...lines: string[]) {
  const {
    arrival,
    dkim_signatures: [signature],
    anomalies,
  } = analyseHeaders(lines.join("\r\n"), NOW);
  const found = anomalies.map(({ id }) => id).filter((id) => id === "dkim_expired" || id === "future_date");
  return { arrival, expired: signature?.expired ?? null, issues: signature?.issues ?? [], found };
}

describe("the time of arrival", () => {
  it("is the time of the newest hop; a signature that was valid then has not expired", () => {
    const valid = signed(`t=${T}; x=${T + 7 * DAY};`);
    expect(
      analyse(hop("Tue, 2 Jan 2024 09:00:05 +0000"), hop("Tue, 2 Jan 2024 09:00:02 +0000"), valid, DATE, FROM),
    ).toEqual({
      arrival: { time: "2024-01-02T09:00:05.000Z", source: "received" },
      expired: false,
      issues: [],
      found: [],
    });
  });

  it("shows that a signature had expired before arrival", () => {
    const late = analyse(hop("Thu, 11 Jan 2024 09:00:00 +0000"), signed(`t=${T}; x=${T + 7 * DAY};`), DATE, FROM);
    expect(late).toMatchObject({ expired: true, found: ["dkim_expired"] });
    expect(late.issues).toEqual(["It had expired when the message arrived (x=)."]);
    expect(analyse(hop("Tue, 2 Jan 2024 09:00:00 +0000"), signed(`x=${T};`), DATE, FROM).expired).toBe(false);
    expect(analyse(hop("Tue, 2 Jan 2024 09:00:01 +0000"), signed(`x=${T};`), DATE, FROM).expired).toBe(true);
  });

  it("shows that a signature or a Date has a later time", () => {
    const later = analyse(
      hop("Tue, 2 Jan 2024 09:00:00 +0000"),
      signed(`t=${T + DAY};`),
      "Date: Wed, 3 Jan 2024 09:00:00 +0000",
      FROM,
    );
    expect(later.issues).toEqual(["It was made after the message arrived (t=)."]);
    expect(later.found).toEqual(["future_date"]);
  });

  it("ignores hops with a date in the future", () => {
    const broken = analyse(hop("Sat, 2 Jan 2044 09:00:00 +0000"), hop("Tue, 2 Jan 2024 09:00:00 +0000"), DATE, FROM);
    expect(broken.arrival).toEqual({ time: "2024-01-02T09:00:00.000Z", source: "received" });
  });

  it.each([
    ["mbox", ["From a@b.example Tue Jan  2 09:30:00 2024", hop("soon"), DATE], "2024-01-02T09:30:00.000Z"],
    ["mbox", ["From a@b.example Tue Jan  2 09:30:00 2024 +0100", DATE], "2024-01-02T08:30:00.000Z"],
    ["date", ["From - ", DATE], "2024-01-02T09:00:00.000Z"],
    ["date", ["Received: from a.example by b.example", DATE], "2024-01-02T09:00:00.000Z"],
    ["now", ["Date: Sat, 2 Jan 2044 09:00:00 +0000"], NOW.toISOString()],
    ["now", ["Subject: x"], NOW.toISOString()],
  ])("comes from %s if no hop has a date", (source, lines, time) => {
    expect(analyse(...lines, FROM).arrival).toEqual({ time, source });
  });

  it("is compared with the times of ARC", () => {
    const seal = (t: number) => [
      `ARC-Seal: i=1; a=rsa-sha256; d=b.example; s=s; cv=none; t=${t}; b=QUJD`,
      `ARC-Message-Signature: i=1; a=rsa-sha256; d=b.example; s=s; x=${t}; h=from; bh=QUJD; b=QUJD`,
      "ARC-Authentication-Results: i=1; mx.example; none",
    ];
    const issues = (t: number) =>
      analyseHeaders([hop("Tue, 2 Jan 2024 09:00:00 +0000"), ...seal(t), FROM].join("\r\n"), NOW).arc_chain?.sets[0]
        ?.issues;
    expect(issues(T)).toEqual([]);
    expect(issues(T + DAY)).toEqual(["Seal: It was made after the message arrived (t=)."]);
    expect(issues(T - DAY)).toEqual(["Message signature: It had expired when the message arrived (x=)."]);
  });
});
