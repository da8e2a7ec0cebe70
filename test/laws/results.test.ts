import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { findings } from "#shared/tools/shapes.ts";
import { blackboxProbe } from "#shared/blackbox/contract.ts";
import { MONITOR_CHECKS } from "#shared/monitor-checks/list.ts";
import { fieldsOf, type Schema } from "#test/laws/schema-fields.ts";

/** A fact that several tools report: the name of its field, and its allowed JSON types in addition to null. */
interface Fact {
  readonly names: RegExp;
  readonly types: readonly string[];
  /** Paths of fields that have such a name for something else. */
  readonly except?: RegExp;
}

const FACTS: readonly Fact[] = [
  { names: /^(?:asn|start_asn|end_asn)$/, types: ["integer"] },
  { names: /^ip_version$/, types: ["integer"] },
  { names: /^(?:ip|host)$/, types: ["string"] },
  { names: /^(?:port|ttl|days_left|lifetime_days)$/, types: ["integer"] },
  { names: /^elapsed_(?:ms|us)$/, types: ["integer"] },
  // Objects of several durations, and a list of samples.
  { names: /_(?:ms|s|us)$/, types: ["integer", "number"], except: /(?:^|\.)(?:timings_ms|timing_us|ttfb_samples_ms)$/ },
  { names: /_(?:at|before|after)$/, types: ["string"] },
  { names: /^fingerprint_sha(?:1|256)$/, types: ["string"] },
  // ip names the country too, as its continent and region.
  { names: /^country$/, types: ["string"], except: /^country$/ },
];
const INSTANTS = /^(?:observed|produced|revoked|expires|registered|changed|sealed)_at$|^not_(?:before|after)$/;

const tools = CONTRACTS.map((contract) => ({ name: contract.name, result: contract.result as Schema }));

describe.each(
  [...CONTRACTS, blackboxProbe, ...Object.values(MONITOR_CHECKS)].map(({ name, params, result }) => ({
    name,
    params,
    result,
  })),
)("the contract of $name", ({ params, result }) => {
  it.each<[string, object]>([
    ["parameter", params],
    ["field of the result", result],
  ])("describes every %s", (_what, schema) => {
    const vague = fieldsOf(schema).filter(({ schema: field }) => (field.description ?? "") === "");
    expect(vague.map(({ path }) => path)).toEqual([]);
  });
});

describe("every result", () => {
  it.each(tools)("$name has its duration as elapsed_ms, a whole number of milliseconds", ({ result }) => {
    expect(result.properties?.["elapsed_ms"]).toMatchObject({ type: "integer", minimum: 0 });
    expect(result.required).toContain("elapsed_ms");
  });

  it.each(tools)("$name gives a fact the type it has in every tool", ({ result }) => {
    const wrong = fieldsOf(result).flatMap(({ path, name, schema }) => {
      const law = FACTS.find(({ names }) => names.test(name));
      if (law === undefined || law.except?.test(path) === true) return [];
      const types = [schema, ...(schema.anyOf ?? [])]
        .flatMap(({ type }) => type ?? [])
        .filter((type) => type !== "null");
      return types.every((type) => law.types.includes(type)) ? [] : [`${path}: ${types.join(", ")}`];
    });
    expect(wrong).toEqual([]);
  });

  it.each(tools)("$name has an instant as text in ISO 8601, and says so", ({ result }) => {
    const vague = fieldsOf(result)
      .filter(({ name, path }) => INSTANTS.test(name) && path !== "dmarc.found_at")
      .filter(({ schema }) => !/ISO 8601/.test(schema.description ?? ""))
      .map(({ path }) => path);
    expect(vague).toEqual([]);
  });

  it.each(tools)("$name calls an HTTP status code", ({ result }) => {
    const misnamed = fieldsOf(result)
      .filter(({ name }) => /^(status|status_code|http_status|http_code)$/.test(name))
      .filter(({ schema }) => [schema, ...(schema.anyOf ?? [])].some(({ type }) => type === "integer"))
      .map(({ path }) => path);
    expect(misnamed).toEqual([]);
  });

  it.each(tools)("$name has findings in the one shape, at the top level only", ({ result }) => {
    const { items } = findings() as Schema;
    for (const { path, schema } of fieldsOf(result).filter(({ name }) => name === "findings")) {
      expect(path).toBe("findings");
      expect(schema.items).toEqual(items);
    }
  });
});
