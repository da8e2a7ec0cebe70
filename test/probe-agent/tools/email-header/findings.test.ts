import { expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";
import { headerFindings } from "#probe-agent/tools/email-header/findings.ts";

/** Returns the findings on an ARC chain of one set whose fields have these tags. */
function findingsOfSet(seal: string, message: string) {
  const lines = [
    `ARC-Seal: i=1; cv=none; d=b.example; s=s; ${seal}`,
    `ARC-Message-Signature: i=1; d=b.example; s=s; bh=QUJD; ${message}`,
    "ARC-Authentication-Results: i=1; mx.b.example; spf=pass",
    "Date: Tue, 2 Jan 2024 09:00:00 +0000",
  ];
  const rows = analyseHeaders(lines.join("\n"), new Date("2024-01-02T10:00:00Z"));
  return headerFindings(rows).filter(({ id }) => id.startsWith("arc"));
}

const SEAL = "a=rsa-sha256; b=QUJD";
const MESSAGE = "a=rsa-sha256; h=from; b=QUJD";

it("a complete ARC set has no finding", () => {
  expect(findingsOfSet(SEAL, MESSAGE)).toEqual([]);
});

it("the faults of an ARC set are one finding with its number", () => {
  const found = findingsOfSet("a=rsa-sha1; b=QUJD", "a=rsa-sha256; h=to; b=QUJD");
  expect(found).toMatchObject([{ id: "arc-set-fault", severity: "warning", where: "ARC set 1" }]);
  expect(found[0]?.message).toMatch(/^Seal: .*rsa-sha1.* Message signature: .*From/);
});
