import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readReceived } from "#probe-agent/tools/email-header/received-field.ts";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";

const DATE = "Tue, 2 Jan 2024 09:00:00 +0000";
const TIME = Date.parse("2024-01-02T09:00:00Z");
/** Address in the table that the client only claims. */
const CLAIMED = "33.0.2.1";

/** Returns the rows of a table: the writer of a Received field, the field, and what is expected. */
function rowsOf(name: string) {
  const table = readFileSync(new URL(`../../../fixtures/email/${name}.txt`, import.meta.url), "utf8");
  const lines = table.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [writer = "", field = "", ...expected] = line.split(" | ");
    return { writer, field, expected };
  });
}

const FORMS = rowsOf("received-forms");

describe("Received fields (RFC 5321 section 4.4) as servers write them", () => {
  it.each(rowsOf("received-parts"))("$writer", ({ field, expected: [parts = ""] }) => {
    const { date, tls, ...texts } = readReceived(field.replace("DATE", DATE));
    const suite = tls === null ? null : [tls.version, tls.cipher, tls.bits].map((one) => one ?? "-").join("/");
    const seen = Object.entries({ ...texts, tls: suite }).map(([name, value]) => `${name}=${String(value ?? "-")}`);
    expect(seen).toEqual(expect.arrayContaining(parts.split("; ")));
    expect(date?.time).toBe(TIME);
  });

  it.each([
    ["from a by b", null],
    ["from a by b;", null],
    ["from a by b; soon", { time: null, faults: ["unreadable"] }],
    ["", null],
  ])("%j has no date", (value, date) => {
    expect(readReceived(value).date).toEqual(date);
  });
});

describe("the client of a hop", () => {
  it.each(FORMS)("$writer: $field", ({ field, expected }) => {
    const { from, rdns, ip, date } = readReceived(`${field}; ${DATE}`);
    expect([from, rdns, ip].map((one) => one ?? "-")).toEqual(expected);
    expect(date?.time).toBe(TIME);
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
