import { describe, expect, it } from "vitest";
import type { Evidence, PlaceEvidence } from "#control-plane/watching/evidence/evidence.ts";
import { writeEvidence } from "#control-plane/watching/evidence/fit.ts";
import { summarize } from "#control-plane/watching/evidence/summary.ts";

const LIMIT = 256 * 1024;

function place(result: unknown, trace: unknown = null): PlaceEvidence {
  const check = { verdict: "down", response_ms: 1, http_status: 500, error: null, result } as const;
  return { location: "eu", check, trace: trace === null ? null : { status: "ok", data: trace } };
}

function evidenceWith(over: Partial<Evidence>): Evidence {
  return {
    gathered_at: "2026-03-01T12:00:00.000Z",
    failing: null,
    healthy: null,
    dns: null,
    certificate: null,
    changed: [],
    pings: null,
    summary: ["a", "b", "c"],
    truncated: false,
    ...over,
  };
}

/** An object nested so deep, with `width` fields each. */
function nested(depth: number, width: number, leaf: unknown): unknown {
  if (depth === 0) return leaf;
  return Object.fromEntries(Array.from({ length: width }, (_, index) => [`k${index}`, nested(depth - 1, width, leaf)]));
}

describe("stored evidence", () => {
  it("of ordinary size is kept as it is", () => {
    const evidence = evidenceWith({ failing: place({ headers: [{ name: "a", value: "x".repeat(5_000) }] }) });
    expect(JSON.parse(writeEvidence(evidence))).toEqual(evidence);
  });

  it.each([
    ["a text", "x".repeat(600_000)],
    ["texts", Array.from({ length: 400 }, () => "y".repeat(4_000))],
    ["characters that JSON escapes", "\u0000".repeat(200_000)],
    ["half surrogate pairs", "\ud800".repeat(200_000)],
    ["many fields", Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`f${index}`.repeat(50), index]))],
    ["a tree", nested(6, 6, "z".repeat(50))],
    ["a deep object", nested(2_000, 1, 1)],
  ])("stays valid JSON of at most 256 KB if a probe sends %s", (_, result) => {
    const failing = place(result, result);
    const dns = { location: "eu", host: { status: "ok", data: result }, zone: { status: "ok", data: result } } as const;
    const text = writeEvidence(evidenceWith({ failing, healthy: failing, dns }));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT);
    const parsed = JSON.parse(text) as Evidence;
    expect(parsed.truncated).toBe(true);
    expect(parsed.summary).toEqual(["a", "b", "c"]);
    expect(text).not.toMatch(/\\ud[89a-f]/);
  });
});

describe("the three lines", () => {
  const about = {
    cause: "Connection refused in eu (port 443)",
    changed: [],
    compared: [],
    intervalMs: 60_000,
    lastGoodAt: null,
    failingAt: ["eu"],
    failing: null,
    healthy: null,
    lastAddress: null,
    workingAt: [],
    silentAt: [],
  };

  it("say what is known, and what is not", () => {
    expect(summarize(about)).toEqual([
      "Connection refused in eu (port 443)",
      "No earlier good check to compare with",
      "Fails from everywhere that was checked: eu",
    ]);
    const lastGoodAt = new Date("2026-03-01T11:05:00Z");
    expect(summarize({ ...about, lastGoodAt })[1]).toBe(
      "Nothing that can be compared has changed since the good check at 2026-03-01 11:05 UTC",
    );
  });

  it("name three changes, four places, and where the traces end", () => {
    const hop = (number: number, ip: string | null) => ({ hop: number, replies: [{ ip, hostname: null }] });
    const failing = place(null, { reached: false, hops: [hop(1, "192.0.2.1"), hop(2, "192.0.2.2"), hop(3, null)] });
    const healthy = { ...place(null, { reached: true, hops: [] }), location: "us" };
    const lastGoodAt = new Date("2026-03-01T11:05:00Z");
    const change = (field: string) => ({ field, before: "1", after: "2", last_good_at: lastGoodAt.toISOString() });
    const changed = ["status", "addresses", "ttfb_ms", "tls_ms"].map(change);
    const failingAt = ["a", "b", "c", "d", "e", "f"];
    const [, changes, where] = summarize({
      ...about,
      changed,
      lastGoodAt,
      failing,
      healthy,
      failingAt,
      workingAt: ["us"],
    });
    expect(changes).toBe(
      "Changed since the good check at 2026-03-01 11:05 UTC: status 1 -> 2; addresses 1 -> 2; " +
        "time to the first byte 1 -> 2; and 1 more",
    );
    expect(where).toBe(
      "Fails from a, b, c, d and 2 more; works from us; the trace from eu ends at hop 2, 192.0.2.2; " +
        "the trace from us reaches the target",
    );
  });

  it("name the last good check, and, where only an older one reported a value, the time of that one", () => {
    const change = (field: string, at: string) => ({ field, before: "1", after: "2", last_good_at: at });
    const lastGoodAt = new Date("2026-03-01T12:00:00Z");
    const changed = [
      change("name_servers", "2026-02-28T23:50:00.000Z"),
      change("status", "2026-03-01T11:59:30.000Z"),
      change("redirect_target", "2026-03-01T11:05:00.000Z"),
    ];
    expect(summarize({ ...about, changed, lastGoodAt })[1]).toBe(
      "Changed since the good check at 2026-03-01 12:00 UTC: " +
        "name servers 1 -> 2 (compared with the check at 2026-02-28 23:50); status 1 -> 2; " +
        "redirect target 1 -> 2 (compared with the check at 11:05)",
    );
    const [only] = changed.slice(2);
    expect(summarize({ ...about, changed: only === undefined ? [] : [only], lastGoodAt })[1]).toBe(
      "Changed since the good check at 2026-03-01 12:00 UTC: redirect target 1 -> 2 (compared with the check at 11:05)",
    );
    expect(summarize({ ...about, changed, lastGoodAt, intervalMs: 86_400_000 })[1]).not.toContain("compared");
  });

  it("say of what has not changed too with which check it was compared, if that is older than an interval", () => {
    const compared = [
      { field: "addresses", at: new Date("2026-03-01T11:05:00Z") },
      { field: "name_servers", at: new Date("2026-02-28T23:50:00Z") },
      { field: "certificate", at: new Date("2026-03-01T11:05:00Z") },
      { field: "status", at: new Date("2026-03-01T12:00:00Z") },
    ];
    expect(summarize({ ...about, compared, lastGoodAt: new Date("2026-03-01T12:00:00Z") })[1]).toBe(
      "Nothing that can be compared has changed since the good check at 2026-03-01 12:00 UTC (addresses, certificate: " +
        "since the check at 11:05; name servers: since the check at 2026-02-28 23:50)",
    );
  });

  it("say of redirects that they are slower, by name", () => {
    const changed = [{ field: "redirect_ms", before: "80 ms", after: "4000 ms", last_good_at: "2026-03-01T11:59:30Z" }];
    expect(summarize({ ...about, changed })[1]).toContain(": time of the redirects 80 ms -> 4000 ms");
  });

  it("count a location that got no answer in the shorter time of evidence neither as failing nor as working", () => {
    expect(summarize({ ...about, silentAt: ["us"] })[2]).toBe(
      "Fails from eu; not known from us, which got no answer in time",
    );
    expect(summarize({ ...about, workingAt: ["ap"], silentAt: ["us"] })[2]).toBe(
      "Fails from eu; works from ap; not known from us, which got no answer in time",
    );
  });

  it("are one printable line each, whatever a target or a router is called", () => {
    const hops = [{ hop: 1, replies: [{ ip: "192.0.2.1", hostname: `evil\r\nBcc: x\u202e${"h".repeat(5_000)}` }] }];
    const lines = summarize({ ...about, cause: "a\u0000\nb", failing: place(null, { reached: false, hops }) });
    for (const line of lines) expect(line).toMatch(/^[\x20-\x7e…]{1,400}$/);
  });
});
