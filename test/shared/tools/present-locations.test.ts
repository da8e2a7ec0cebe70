import { describe, expect, it } from "vitest";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { factOf, NOW } from "#test/shared/tools/examples.ts";
import { presentLocations, type LocationAnswer } from "#shared/tools/present-locations.ts";
import { writePlain } from "#shared/presentation/plain.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import type { Contract } from "#shared/tools/define.ts";
import { ping } from "#shared/tools/ping/contract.ts";
import { ssl } from "#shared/tools/ssl/contract.ts";

const FINDING = { id: "x", severity: "info", message: "One.", how: null, reference: null, where: null };
const PLACES = ["Dublin", "Ohio", "Sydney", "Tokyo"];

/** The recorded result of ssl at a place, with some fields changed. */
function certificate(place: string, change: object = {}): LocationAnswer {
  return { place, answer: { ok: true, data: { ...exampleOf("ssl")?.data, ...change } } };
}

function failure(place: string, message: string, isTarget: boolean): LocationAnswer {
  return { place, answer: { ok: false, message, isTarget } };
}

const all = (rows: readonly LocationAnswer[], contract: Contract = ssl): Presentation =>
  presentLocations(contract, rows, NOW);
const GOOD = "shop.test: grade A+, trusted, ends in 84 days";

describe("answers of several locations", () => {
  it("that agree have their headline once, and a row each with the facts that matter most", () => {
    const shown = all(PLACES.map((place) => certificate(place)));
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe(`${GOOD} (from all of 4 locations)`);
    expect(factOf(shown, "Locations")).toBe("4 locations");
    expect(shown.tables.map(({ title }) => title)).toEqual(["By location"]);
    expect(shown.tables[0]?.columns.map(({ label }) => label)).toEqual([
      "Location",
      "Grade",
      "Trusted",
      "Valid until",
      "Issuer",
    ]);
    expect(shown.tables[0]?.rows.map(({ cells, tone }) => [cells[0], cells[1], tone])).toEqual(
      PLACES.map((place) => [place, "A+", "good"]),
    );
  });

  it("of which one differs have the headline and the verdict of the worst", () => {
    const shown = all([
      certificate("Dublin"),
      certificate("Ohio", { trusted: false, trust_error: "revoked" }),
      certificate("Sydney"),
    ]);
    expect(shown.verdict).toBe("bad");
    expect(shown.headline).toBe(
      "The certificate of shop.test is not trusted: it was revoked (bad at 1 of 3 locations)",
    );
    expect(shown.tables.map(({ title }) => title)).toEqual(["What goes wrong", "By location"]);
    expect(shown.tables[0]?.rows).toEqual([
      { cells: ["Ohio", "The certificate of shop.test is not trusted: it was revoked"], tone: "bad" },
    ]);
    expect(shown.tables[1]?.rows.map(({ tone }) => tone)).toEqual(["good", "bad", "good"]);
  });

  it("are not worse because a probe failed", () => {
    const shown = all([
      certificate("Dublin"),
      certificate("Ohio"),
      failure("Sydney", "the probe was restarted", false),
    ]);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe(`${GOOD} (good at 2 of 3 locations)`);
    expect(factOf(shown, "Without a result")).toBe("1");
    expect(shown.tables[0]?.rows).toEqual([{ cells: ["Sydney", "the probe was restarted"], tone: "warning" }]);
    expect(shown.tables[1]?.rows[2]).toMatchObject({ cells: ["Sydney", "no result", "", "", ""] });
  });

  it("say first where the target refuses them", () => {
    const shown = all([certificate("Dublin"), failure("Ohio", "connection refused", true), certificate("Sydney")]);
    expect(shown.verdict).toBe("bad");
    expect(shown.headline).toBe("connection refused (bad at 1 of 3 locations)");
    expect(shown.tables[0]?.rows).toEqual([{ cells: ["Ohio", "connection refused"], tone: "bad" }]);
    expect(shown.tables[1]?.rows.map(({ cells, tone }) => [cells[1], tone])).toEqual([
      ["A+", "good"],
      ["fails", "bad"],
      ["A+", "good"],
    ]);
  });

  it("say that the target refuses them everywhere", () => {
    const shown = all(PLACES.map((place) => failure(place, "connection refused", true)));
    expect(shown.verdict).toBe("bad");
    expect(shown.headline).toBe("connection refused (from all of 4 locations)");
    expect(factOf(shown, "Target fails")).toBe("at 4 locations");
    expect(factOf(shown, "Without a result")).toBeNull();
    expect(shown.tables).toEqual([
      {
        title: "What goes wrong",
        columns: [{ label: "Location" }, { label: "Answer" }],
        rows: [{ cells: ["Dublin, Ohio, Sydney and 1 more", "connection refused"], tone: "bad" }],
        more: 0,
      },
    ]);
  });

  it("judge nothing where every probe failed, and say why", () => {
    const shown = all([failure("Dublin", "the probe was restarted", false), failure("Ohio", "no IPv6", false)]);
    expect(shown.verdict).toBe("neutral");
    expect(shown.headline).toBe("None of 2 locations has a result: the probe was restarted");
    expect(all([]).headline).toBe("No location has answered");
  });

  it("are shown as the answer itself if there is one only", () => {
    const shown = all([certificate("Dublin")]);
    expect([shown.headline, shown.facts[0]?.label]).toEqual([GOOD, "Grade"]);
    expect(shown.facts.length).toBeGreaterThan(8);
    expect(all([failure("Dublin", "connection refused", true)]).headline).toBe("connection refused");
  });

  it("are side by side in 80 columns", () => {
    const shown = all([certificate("eu-west, Dublin"), certificate("us-east, Ohio", { grade: "C" })]);
    expect(writePlain(shown, { width: 80 }).split("\n").slice(5)).toEqual([
      "What goes wrong",
      "Location       Answer",
      "us-east, Ohio  shop.test: grade C, trusted, ends in 84 days",
      "",
      "By location",
      "Location         Grade  Trusted  Valid until              Issuer",
      "eu-west, Dublin  A+     yes      2027-02-20 (in 84 days)  Oak and Lumen Test In…",
      "us-east, Ohio    C      yes      2027-02-20 (in 84 days)  Oak and Lumen Test In…",
    ]);
  });

  it("are compared by the facts that most of them have", () => {
    const data = exampleOf("ping")?.data;
    const ports = [{ port: 443, state: "open", service: "https", rtt_ms: 1, reason: null }];
    const shown = all(
      [
        { place: "Dublin", answer: { ok: true, data: { ...data, ports } } },
        { place: "Ohio", answer: { ok: true, data } },
        { place: "Sydney", answer: { ok: true, data } },
      ],
      ping,
    );
    expect(
      shown.tables
        .at(-1)
        ?.columns.slice(1)
        .map(({ label }) => label),
    ).toEqual(["Packets", "Loss", "Average", "Fastest"]);
  });

  it("have each finding once, the most severe first, with the number of locations that have it", () => {
    const warned = { ...FINDING, id: "y", severity: "warning", message: "Two." };
    const shown = all([
      certificate("Dublin", { findings: [FINDING] }),
      certificate("Ohio", { findings: [FINDING, warned] }),
      failure("Sydney", "the probe was restarted", false),
    ]);
    expect(shown.findings.map(({ message }) => message)).toEqual(["Two. (1 of 2 locations)", "One."]);
  });

  it("keep the numbers of locations behind long texts of the target", () => {
    const long = "a".repeat(2_000);
    const shown = all([
      certificate("Dublin", { trusted: false, trust_error: long, findings: [{ ...FINDING, message: long }] }),
      certificate("Ohio", { findings: [] }),
    ]);
    expect(shown.headline).toMatch(/^.{270,}… \(bad at 1 of 2 locations\)$/);
    expect(shown.findings[0]?.message).toMatch(/^a{270,}… \(1 of 2 locations\)$/);
    expect(Array.from(shown.headline).length).toBeLessThanOrEqual(300);
  });

  it("show the worst first if there are more than a table holds, and at most 100 findings", () => {
    const rows = Array.from({ length: 200 }, (_, index) =>
      certificate(`Place ${index}`, {
        findings: [{ ...FINDING, id: `kind-${index}` }],
        ...(index === 199 ? { trusted: false, trust_error: "expired" } : {}),
      }),
    );
    const shown = all([...rows, failure("Last", "connection refused", true)]);
    expect(shown.tables[0]?.rows.map(({ cells }) => cells[0])).toEqual(["Place 199", "Last"]);
    expect(shown.tables[1]?.rows.slice(0, 3).map(({ cells }) => cells[0])).toEqual(["Place 199", "Last", "Place 0"]);
    expect(shown.tables[1]?.more).toBe(161);
    expect(shown.findings).toHaveLength(100);
  });

  it("can be results that no contract describes, and hostile messages", () => {
    const shown = all([
      { place: "Du\u001bblin", answer: { ok: true, data: null } },
      { place: "Ohio", answer: { ok: true, data: JSON.parse('{"__proto__": {"findings": 1}, "findings": 7}') } },
      failure("Sydney", "line\r\n\u202ebreak", true),
    ]);
    expect(shown.headline).toBe("line break (bad at 1 of 3 locations)");
    expect(shown.tables[0]?.rows).toMatchObject([{ cells: ["Sydney", "line break"] }]);
    expect(shown.tables[1]?.rows.map(({ cells }) => cells[0])).toEqual(["Du blin", "Ohio", "Sydney"]);
  });
});
