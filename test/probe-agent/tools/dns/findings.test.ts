import { describe, expect, it } from "vitest";
import { dnsFindings, type DnsFacts } from "#probe-agent/tools/dns/report.ts";
import { propagationFindings, type PropagationFacts } from "#probe-agent/tools/propagation/findings.ts";

type Row = DnsFacts["results"][number];
type Server = NonNullable<PropagationFacts["authoritative"]>["servers"][number];

function row(type: string, status: string, ede: Row["ede"] = []): Row {
  return { type, status, ede } as unknown as Row;
}

function dnssec(status: string, reasons: readonly string[] = []): DnsFacts["dnssec"] {
  return { status, reasons } as unknown as DnsFacts["dnssec"];
}

const ids = (found: readonly { id: string; severity: string }[]) =>
  found.map(({ id, severity }) => `${severity} ${id}`);

describe("the findings of the dns tool", () => {
  it.each<[string, Partial<DnsFacts>, string[]]>([
    [
      "an answer has none, nor has a name that is not there",
      { results: [row("A", "NOERROR"), row("MX", "NXDOMAIN")] },
      [],
    ],
    ["a failing name", { results: [row("A", "SERVFAIL"), row("MX", "SERVFAIL")] }, ["critical servfail"]],
    ["a silent resolver", { results: [row("A", "TIMEOUT")] }, ["warning no-answer"]],
    [
      "aliases in a circle are the cause, not the failure they lead to",
      { results: [row("A", "SERVFAIL")], circle: ["a.example", "b.example"] },
      ["critical alias-circle"],
    ],
    ["signatures that fail", { dnssec: dnssec("bogus", ["The DS is of another key."]) }, ["critical dnssec-bogus"]],
    ["no signatures", { dnssec: dnssec("insecure") }, ["info dnssec-insecure"]],
    ["good signatures", { dnssec: dnssec("secure") }, []],
  ])("%s", (_what, change, expected) => {
    const found = dnsFindings({ results: [], dnssec: null, circle: null, ...change });
    expect(ids(found)).toEqual(expected);
    for (const { how } of found) expect((how ?? "").length).toBeGreaterThan(20);
  });

  it("contain the cause in addition to the verdict", () => {
    const [failing] = dnsFindings({
      results: [row("A", "SERVFAIL", [{ code: 9, name: "DNSKEY Missing", text: "no key" }])],
      dnssec: null,
      circle: null,
    });
    expect(failing?.message).toBe("The resolver could not get an answer for A: SERVFAIL (DNSKEY Missing: no key).");
    const [bogus] = dnsFindings({ results: [], dnssec: dnssec("bogus", ["The DS is of another key."]), circle: null });
    expect(bogus?.message).toContain("The DS is of another key.");
  });
});

const GOOD: PropagationFacts = {
  verdict: "propagated",
  failures: [],
  resolvers: [],
  expected_in_s: null,
  authoritative: null,
};

function authoritative(servers: Partial<Server>[], serials: { ns: string; serial: number }[] = []) {
  const full = servers.map((server) => ({ ns: "ns1.example", error: null, authoritative: true, ...server }));
  return { servers: full, serials } as unknown as PropagationFacts["authoritative"];
}

describe("the findings of the propagation tool", () => {
  const failure = (cause: string) => [{ cause, detail: "Why.", resolvers: ["north"] }] as PropagationFacts["failures"];
  it.each<[string, Partial<PropagationFacts>, string[]]>([
    ["a record that has spread has none", {}, []],
    ["older answers leave by themselves", { verdict: "propagating", expected_in_s: 300 }, ["info older-answers"]],
    ["answers nobody published", { verdict: "inconsistent" }, ["warning answers-differ"]],
    ["resolvers that fail on signatures", { failures: failure("dnssec") }, ["critical resolvers-fail-dnssec"]],
    ["resolvers that refuse strangers", { failures: failure("refused") }, ["info resolvers-fail-refused"]],
    ["resolvers that fail at times", { failures: failure("intermittent") }, ["warning resolvers-fail-intermittent"]],
    [
      "one server of two is silent",
      { authoritative: authoritative([{ error: "timeout" }, { ns: "ns2.example" }]) },
      ["warning name-server-silent"],
    ],
    ["all are", { authoritative: authoritative([{ error: "timeout" }]) }, ["critical name-server-silent"]],
    [
      "a server without the zone",
      { authoritative: authoritative([{ authoritative: false }, { ns: "ns2.example" }]) },
      ["warning lame-delegation"],
    ],
    [
      "serials that differ",
      {
        authoritative: authoritative(
          [{}],
          [
            { ns: "ns1.example", serial: 1 },
            { ns: "ns2.example", serial: 2 },
          ],
        ),
      },
      ["warning serials-differ"],
    ],
  ])("%s", (_what, change, expected) => {
    const found = propagationFindings({ ...GOOD, ...change });
    expect(ids(found)).toEqual(expected);
    for (const { how } of found) expect((how ?? "").length).toBeGreaterThan(20);
  });
});
