import { describe, expect, it } from "vitest";
import { registrationFindings, type RegistrationFacts } from "#probe-agent/tools/whois/findings.ts";

const GOOD: RegistrationFacts = {
  name: "shop.example",
  expires: "2027-03-04T00:00:00.000Z",
  days_left: 300,
  status: ["client transfer prohibited"],
  dnssec: { signed: true },
};

describe("the findings of a registration", () => {
  it.each<[string, Partial<RegistrationFacts>, string[]]>([
    ["a good one has none", {}, []],
    [
      "nothing is said of what is not known",
      { expires: null, days_left: null, dnssec: { signed: null }, status: [] },
      [],
    ],
    ["its end is near", { days_left: 30 }, ["warning registration-expires-soon"]],
    ["its end is a month off", { days_left: 31 }, []],
    ["it has ended", { days_left: -1 }, ["critical registration-expired"]],
    ["it is on hold", { status: ["clientHold", "clientTransferProhibited"] }, ["critical registration-on-hold"]],
    [
      "it is being deleted",
      { status: ["redemption period", "server transfer prohibited"] },
      ["critical registration-being-deleted"],
    ],
    ["it is not locked", { status: ["ok"] }, ["info transfer-not-locked"]],
    ["the words of the registry are its own", { status: ["REGISTERED, DELEGATED"] }, []],
    ["it is not signed", { dnssec: { signed: false } }, ["info dnssec-not-signed"]],
    [
      "the worst comes first",
      { days_left: -1, status: ["ok"], dnssec: { signed: false } },
      ["critical registration-expired", "info transfer-not-locked", "info dnssec-not-signed"],
    ],
  ])("%s", (_what, change, expected) => {
    const found = registrationFindings({ ...GOOD, ...change });
    expect(found.map(({ id, severity }) => `${severity} ${id}`)).toEqual(expected);
    for (const { message, how } of found) expect([message.length > 20, (how ?? "").length > 20]).toEqual([true, true]);
  });
});
