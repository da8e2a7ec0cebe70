import { describe, expect, it } from "vitest";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { writeLocations, writeResult } from "#control-plane/surfaces/mcp/check-tool.ts";
import { CONTRACTS, contractsByName } from "#shared/tools/index.ts";

const NOW = new Date("2026-11-27T12:00:00Z");
const PLACE = {
  probe_id: "eu-1",
  region: "eu",
  country: "DE",
  city: "Berlin",
  asn: 64_500,
  latitude: null,
  longitude: null,
};
const { ssl } = contractsByName;

describe("the text of an answer for a model", () => {
  it.each(CONTRACTS)("of $name begins with verdict and headline, and has at most 2,000 octets", (contract) => {
    const text = writeResult(contract, exampleOf(contract.name)?.data, NOW);
    expect(text).toMatch(/^(?:good|warning|bad|neutral): \S.+\n/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
  });

  it("has each finding with what to change", () => {
    const finding = {
      id: "a",
      severity: "warning",
      message: "It is old.",
      how: "Renew it.",
      reference: null,
      where: "leaf",
    };
    expect(writeResult(ssl, { ...exampleOf("ssl")?.data, findings: [finding] }, NOW)).toContain(
      "warning: It is old. (leaf) Fix: Renew it.",
    );
  });

  it("ends where it has too many facts or findings, and says where the rest is", () => {
    const finding = { id: "a", severity: "info", message: "ä".repeat(290), how: null, reference: null, where: null };
    const text = writeResult(
      ssl,
      { ...exampleOf("ssl")?.data, findings: Array.from({ length: 50 }, () => finding) },
      NOW,
    );
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000);
    expect(text).toMatch(/\n\(more in structuredContent\)$/);
  });

  it("of several locations compares them, then shows each, and a failed one by its reason", () => {
    const data = exampleOf("ssl")?.data;
    const error = { code: "request_failed", message: "Connection timed out after 5 s.", source: "target" } as const;
    const text = writeLocations(
      ssl,
      {
        locations: [
          { location: PLACE, status: "ok", duration_ms: 1, data },
          { location: { ...PLACE, region: "us" }, status: "failed", duration_ms: 1, error },
        ],
        summary: {},
      },
      NOW,
    );
    expect(text).toMatch(/^bad: .+ \(bad at 1 of 2 locations\)\n/);
    expect(text).toContain("\n\nFrom eu, Berlin, DE, AS64500\ngood: shop.test: grade A+");
    expect(text).toContain("From us, Berlin, DE, AS64500\nfailed: Connection timed out after 5 s.");
  });

  it("shows hidden characters of a target as escapes", () => {
    const text = writeResult(ssl, { ...exampleOf("ssl")?.data, host: "a\u202eb.test" }, NOW);
    expect(text).not.toMatch(/\u202e/);
  });
});
