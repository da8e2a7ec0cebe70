import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseParams } from "#shared/schema/schema.ts";
import { emailHeader as contract } from "#shared/tools/email-header/contract.ts";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import { emailHeader } from "#probe-agent/tools/email-header/email-header.ts";
import { resultOf, runTool } from "#test/support/tool.ts";

const NOW = { now: () => new Date("2024-01-03T00:00:00Z") };

function fixture(name: string): string {
  return readFileSync(new URL(`../../../fixtures/email/${name}.txt`, import.meta.url), "utf8");
}

describe("email-header", () => {
  it.each(["gmail", "exchange", "rfc8617-b"])("explains %s within its contract", async (name) => {
    const result = await resultOf(emailHeader, { headers: fixture(name) }, NOW);
    expect(result.source).toEqual(name === "exchange" ? ["headers"] : ["headers", "dns"]);
    expect(result).toMatchObject({ observed_at: "2024-01-03T00:00:00.000Z" });
    expect(result.hops.length).toBeGreaterThan(1);
  });

  it("explains its own example", async () => {
    const result = await resultOf(emailHeader, contract.example, NOW);
    expect(result).toMatchObject({
      from: "André <andre@example.com>",
      auth: { spf: { result: "pass" }, confirmed: true },
    });
  });

  it("uses the time of the control plane", async () => {
    const headers = "DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; x=1704240000; h=from; bh=QUJD; b=QUJD";
    const before = await resultOf(emailHeader, { headers }, { now: () => new Date(1_704_239_999_000) });
    const after = await resultOf(emailHeader, { headers }, { now: () => new Date(1_704_240_001_000) });
    expect([before, after].map(({ dkim_signatures: [signature] }) => signature?.expired)).toEqual([false, true]);
  });

  it("locates hops with public addresses by the operator's databases", async () => {
    const database = { source: "Test", build_epoch: 0, licence: null };
    const unnamed = { continent: null, region: null, postal: null, location: null, timezone: null };
    const place = { ...unnamed, country: { code: "NL", name: "Netherlands" }, city: "Delft" };
    const owner = { asn: 64_500, as_name: "Example", isp: null, organization: null };
    const data = { geo: () => ({ database, place }), asn: () => ({ database, owner, prefix: 24 }) };
    const result = await resultOf(emailHeader, { headers: fixture("gmail") }, { ...NOW, data });
    expect(result.hops.map(({ ip_geo: geo }) => geo)).toEqual([
      null,
      { country: "NL", city: "Delft", asn: 64_500, as_name: "Example" },
      null,
    ]);
    expect(result.source).toEqual(["headers", "geo", "dns"]);
    const bare = await resultOf(emailHeader, { headers: fixture("gmail") }, NOW);
    expect(bare.limitations.join(" ")).toContain("The locations of the hops are unknown");
  });

  it("returns a result for text without header fields", async () => {
    const result = await resultOf(emailHeader, { headers: "hello" }, NOW);
    expect(result).toMatchObject({
      header_count: 0,
      hops: [],
      spf_now: null,
      findings: [{ id: "missing-from", severity: "critical", where: "From" }, {}, {}, {}, {}],
    });
  });

  it("accepts 256 KB", async () => {
    const line = "X-Filler: é\r\n";
    const headers = line.repeat(Math.floor(MAX_HEADERS_BYTES / Buffer.byteLength(line)));
    const result = await resultOf(emailHeader, { headers }, NOW);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(MAX_RESULT_BYTES);
    expect(result.header_count).toBeGreaterThan(10_000);
    expect(result.limitations.join(" ")).toMatch(/entries of headers the first \d+ are shown/);
  });

  it("refuses more than 256 KB, counted in characters and in octets", async () => {
    const parse = (headers: string) => parseParams(contract.params, { headers }, { from: "json", unknown: "refuse" });
    const tooLong = "x".repeat(MAX_HEADERS_BYTES + 1);
    expect(parse(tooLong)).toMatchObject({ ok: false, problem: { field: "headers", reason: "range" } });
    expect(parse("")).toMatchObject({ ok: false, problem: { field: "headers", reason: "required" } });
    const tooManyOctets = "é".repeat(MAX_HEADERS_BYTES / 2 + 1);
    expect(parse(tooManyOctets).ok).toBe(true);
    expect(contract.refine?.({ headers: tooManyOctets })).toMatchObject({ field: "headers", reason: "range" });
    expect(contract.refine?.({ headers: "é".repeat(MAX_HEADERS_BYTES / 2) })).toBeNull();
    const { outcome } = await runTool(emailHeader, { headers: tooManyOctets });
    expect(outcome).toMatchObject({ status: "invalid", field: "headers" });
  });
});
