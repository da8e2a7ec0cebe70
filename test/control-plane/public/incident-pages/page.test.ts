import { describe, expect, it } from "vitest";
import type { Evidence } from "#control-plane/watching/evidence/evidence.ts";
import { listEvidence, underDays } from "#control-plane/public/incident-pages/show-incident.ts";
import { renderPage, type Page } from "#control-plane/public/incident-pages/page.ts";

const HOSTILE = '"><script>alert(1)</script>\u202e<img src=x onerror=alert(1)>';
const check = (error: string, result: unknown) => ({
  verdict: "down" as const,
  response_ms: 42,
  http_status: 503,
  error: { stage: "response", source: "target", reason: "unexpected_status", message: error } as const,
  result,
});

/** Evidence of which every text of the target is this one. */
function evidenceOf(text: string): Evidence {
  const hop = { hop: 1, replies: [{ ip: "192.0.2.1", hostname: text, rtt_ms: 1.5 }] };
  const trace = { status: "ok", data: { reached: false, hops: [hop, { hop: 2, replies: [{ ip: null }] }] } } as const;
  const records = [{ data: text }, { data: "192.0.2.7" }];
  const ping = { received_at: "2026-03-01T12:00:00Z", kind: "fail", exit_code: 3, rid: null, method: "POST" } as const;
  return {
    gathered_at: "2026-03-01T12:00:04.000Z",
    failing: {
      location: text,
      check: check(text, { headers: [{ name: "server", value: text }], certificate: { days_left: -664 } }),
      trace,
    },
    healthy: {
      location: "us-east",
      check: check(text, null),
      trace: { status: "failed", error: { code: "request_failed", message: text } },
    },
    dns: {
      location: text,
      host: { status: "ok", data: { results: [{ type: "A", status: "NOERROR", records }] } },
      zone: null,
    },
    certificate: {
      location: text,
      trusted: false,
      trust_error: "expired",
      subject: text,
      issuer: text,
      fingerprint_sha256: "ab",
      not_before: "2026-01-01",
      not_after: "2026-02-01",
    },
    changed: [
      { field: "redirect_target", before: text, after: "https://b.example/", last_good_at: "2026-03-01T11:59:00Z" },
    ],
    pings: [
      {
        ...ping,
        remote_addr: "192.0.2.9",
        user_agent: text,
        duration_ms: null,
        body: `${text}\nline 2`,
        body_truncated: false,
      },
    ],
    summary: ["the cause", `Changed: ${text}`, "Fails from eu-west"],
    truncated: false,
  };
}
const pageOf = (blocks: Page["blocks"]): string =>
  String(
    renderPage({
      state: "Down",
      tone: "down",
      name: "<b>Shop</b>",
      sentences: ["<b>no answer</b>"],
      canAcknowledge: true,
      facts: [["Target", "<b>https://shop.example/</b>"]],
      pictures: [],
      blocks,
      dashboardUrl: "https://vantage.example/app/incidents/1",
      footer: "",
    }),
  );

describe("the page of an incident", () => {
  it("has what the evidence means at once, and what was measured behind its title", () => {
    const blocks = listEvidence(evidenceOf("text"));
    expect(blocks.map(({ title, isOpen }) => `${isOpen ? "+" : "-"} ${title}`)).toEqual([
      "+ What was found",
      "+ Changed since the last good check",
      "- Check from text: down",
      "- Route from text",
      "- Check from us-east: down",
      "- Route from us-east",
      "- DNS as text sees it",
      "- Certificate as text sees it",
      "+ Newest pings",
    ]);
    const html = pageOf(blocks);
    for (const part of ["Changed: text", "redirect target", "HTTP status", "503", "headers.0.value", "192.0.2.7"]) {
      expect(html).toContain(part);
    }
    expect(html).not.toContain("-664");
    expect(html).toContain("It does not reach the target.");
    expect(html).toContain("no answer");
    expect(html).toContain("text\nline 2");
  });

  it("has times of the day below the headings of their days", () => {
    const rows = [
      ["2026-03-01 12:00:00 UTC", "Down"],
      ["2026-03-01 12:00:05 UTC", "Noticed", "mail"],
      ["2026-03-02 09:30:00 UTC", "Up"],
    ];
    expect(underDays(rows)).toEqual([
      ["2026-03-01 UTC"],
      ["12:00:00", "Down"],
      ["12:00:05", "Noticed", "mail"],
      ["2026-03-02 UTC"],
      ["09:30:00", "Up"],
    ]);
    const block = listEvidence(evidenceOf("text")).at(-1);
    expect(block?.rows).toEqual([["2026-03-01 UTC"], ["12:00:00", "fail 3", "text\nline 2"]]);
    expect(pageOf(block === undefined ? [] : [block])).toContain("2026-03-01 UTC</th>");
  });

  it("runs nothing that a target, a probe or a ping has sent", () => {
    const html = pageOf(listEvidence(evidenceOf(HOSTILE)));
    expect(html).not.toMatch(/<script|<img|<b>|\u202e/);
    expect(html).toContain("&lt;script&gt;");
  });

  it("is bounded, however much was measured", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => ({ hop: n, replies: [{ ip: "x".repeat(5_000) }] }));
    const evidence = evidenceOf("x".repeat(100_000));
    const trace = { status: "ok", data: { reached: true, hops: many } } as const;
    const { failing } = evidence;
    const html = pageOf(listEvidence({ ...evidence, failing: failing === null ? null : { ...failing, trace } }));
    expect(html.length).toBeLessThan(200_000);
  });
});
