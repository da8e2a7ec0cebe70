import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readReceived } from "#probe-agent/tools/email-header/received-field.ts";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";

const DATE = "Tue, 2 Jan 2024 09:00:00 +0000";
/** Address in the table that the client only claims. */
const CLAIMED = "33.0.2.1";

const table = readFileSync(new URL("../../../fixtures/email/received-forms.txt", import.meta.url), "utf8");
const FORMS = table
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [writer = "", field = "", ...expectedTexts] = line.split(" | ");
    const [from, rdns, ip] = expectedTexts.map((text) => (text === "-" ? null : text));
    return { writer, field, expected: { from, rdns, ip } };
  });

describe("the client of a hop", () => {
  it.each(FORMS)("$writer: $field", ({ field, expected }) => {
    const { from, rdns, ip, date } = readReceived(`${field}; ${DATE}`);
    expect({ from, rdns, ip }).toEqual(expected);
    expect(date?.time).toBe(Date.parse("2024-01-02T09:00:00Z"));
  });

  it("and the origin of the message never have an address that the client only claims", () => {
    const claimed = FORMS.filter(({ field }) => field.includes(CLAIMED));
    expect(FORMS.length).toBeGreaterThan(100);
    expect(claimed.length).toBeGreaterThan(35);
    for (const { writer, field } of claimed) {
      const { hops, originating_ip: origin } = analyseHeaders(`Received: ${field}; ${DATE}\n\n`, new Date(DATE));
      expect(hops[0]?.ip, writer).not.toBe(CLAIMED);
      expect(origin === null || origin.startsWith("11."), writer).toBe(true);
    }
  });
});
