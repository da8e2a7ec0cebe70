import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { contractList, implementationList } from "../../deploy/tool-lists.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";
import { implementations } from "#probe-agent/tools/index.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** The service's published tools: scope and parameters as [type, required, minimum, maximum, default]. */
type Field = readonly [
  type: string,
  required: boolean,
  bounds?: readonly [number, number] | readonly string[] | null,
  value?: unknown,
];
const PUBLISHED: Readonly<
  Record<string, { readonly scope: string; readonly params: Readonly<Record<string, Field>> }>
> = {
  check: {
    scope: "check",
    params: {
      url: ["string", true],
      method: ["string", false, ["GET", "HEAD", "POST"], "GET"],
      follow: ["string", false, ["0", "1"], true],
      timeout: ["integer", false, [1, 30], 15],
      ua: ["string", false],
    },
  },
  dns: {
    scope: "dns",
    params: { domain: ["string", true], types: ["string", false], dnssec: ["string", false, ["0", "1"], false] },
  },
  ssl: { scope: "ssl", params: { host: ["string", true], port: ["integer", false, [1, 65_535], 443] } },
  ip: { scope: "ip", params: { host: ["string", true] } },
  ping: {
    scope: "ping",
    params: {
      host: ["string", true],
      action: ["string", false, ["ping", "ports", "traceroute"], "ping"],
      count: ["integer", false, [1, 10], 4],
      ports: ["string", false],
      max_hops: ["integer", false, [1, 30], 30],
    },
  },
  health: { scope: "check", params: { url: ["string", true] } },
  cookie: { scope: "check", params: { url: ["string", true] } },
  cors: {
    scope: "check",
    params: { url: ["string", true], origin: ["string", false, null, "https://example.com"] },
  },
  csp: { scope: "check", params: { url: ["string", true] } },
  "http-status": { scope: "check", params: { url: ["string", true] } },
  redirects: {
    scope: "check",
    params: { url: ["string", true], max: ["integer", false, [1, 30], 10], ua: ["string", false] },
  },
  protocol: { scope: "check", params: { url: ["string", true] } },
  "mixed-content": { scope: "check", params: { url: ["string", true] } },
  schema: { scope: "check", params: { url: ["string", true] } },
  robots: { scope: "check", params: { domain: ["string", true], test_url: ["string", false] } },
  "tech-detect": { scope: "check", params: { url: ["string", true] } },
  "og-preview": { scope: "check", params: { url: ["string", true] } },
  cms: { scope: "check", params: { url: ["string", true] } },
  "url-expand": { scope: "check", params: { url: ["string", true] } },
  "resolve-url": { scope: "check", params: { url: ["string", true] } },
  wayback: { scope: "check", params: { url: ["string", true] } },
  security: { scope: "check", params: { url: ["string", true] } },
  "seo-audit": { scope: "check", params: { url: ["string", true] } },
  "ai-check": { scope: "check", params: { domain: ["string", true] } },
  carbon: { scope: "check", params: { url: ["string", true] } },
  performance: { scope: "check", params: { url: ["string", true] } },
  pagespeed: {
    scope: "check",
    params: { url: ["string", true], strategy: ["string", false, ["mobile", "desktop"], "mobile"] },
  },
  mx: { scope: "dns", params: { domain: ["string", true] } },
  dkim: { scope: "dns", params: { domain: ["string", true], selector: ["string", false] } },
  "email-check": { scope: "dns", params: { domain: ["string", true] } },
  "email-header": { scope: "dns", params: { headers: ["string", true] } },
  propagation: { scope: "dns", params: { domain: ["string", true], type: ["string", false, null, "A"] } },
  "smtp-test": { scope: "dns", params: { target: ["string", true], port: ["integer", false, [1, 65_535], 25] } },
  whois: { scope: "dns", params: { host: ["string", true] } },
  asn: { scope: "ip", params: { query: ["string", true] } },
  "reverse-ip": { scope: "ip", params: { ip: ["string", true] } },
  traceroute: { scope: "ping", params: { host: ["string", true] } },
};

/** Parameters beyond the published ones. */
const ADDED = new Map([
  ["ping", ["size", "interval_ms", "ttl", "ip_version", "protocol", "port", "queries"]],
  ["traceroute", ["max_hops", "protocol", "port", "queries", "ip_version"]],
]);

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly (Schema & { readonly const?: string })[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

function closedSet(schema: Schema): readonly string[] | undefined {
  return schema.enum ?? schema.anyOf?.flatMap((option) => (option.const === undefined ? [] : [option.const]));
}

/** Paths of fields without a description, at any depth. */
function undescribed(schema: Schema, path: string): string[] {
  const nested = [
    ...Object.entries(schema.properties ?? {}).map(([name, field]) => [`${path}.${name}`, field] as const),
    ...(schema.items === undefined ? [] : [[`${path}[]`, schema.items] as const]),
    ...(schema.anyOf ?? []).map((option) => [path, option] as const),
  ];
  return nested.flatMap(([name, field]) => {
    const isField = name !== path && !name.endsWith("[]");
    const missing = isField && (field.description === undefined || field.description === "") ? [name] : [];
    return [...missing, ...undescribed(field, name)];
  });
}

describe("the registry", () => {
  it("has a contract file, an implementation file and a test for each tool, all of its name", () => {
    const names = CONTRACTS.map((contract) => contract.name);
    const helpers =
      /^(command-params|define|fields|index|names|observations|parse-params|registrations|shapes|table|timing|trace-result|vantages)\.ts$/;
    const files = readdirSync(join(ROOT, "shared/tools")).filter((name) => name.endsWith(".ts") && !helpers.test(name));
    expect(files.map((name) => name.replace(".ts", "")).toSorted()).toEqual(names.toSorted());
    expect([...implementations.keys()].toSorted()).toEqual(names.toSorted());
    for (const name of names) {
      expect(existsSync(join(ROOT, `probe-agent/tools/${name}.ts`)), name).toBe(true);
      expect(existsSync(join(ROOT, `test/probe-agent/tools/${name}.test.ts`)), name).toBe(true);
    }
  });

  it.each([
    ["shared/tools/index.ts", contractList(TOOL_NAMES)],
    ["probe-agent/tools/index.ts", implementationList(TOOL_NAMES)],
  ])("%s is what the list of names makes (else: npm run tools)", (path, list) => {
    expect(readFileSync(join(ROOT, path), "utf8")).toBe(list);
  });

  it("lists the contracts in the order of the names", () => {
    expect(CONTRACTS.map(({ name }) => name)).toEqual(TOOL_NAMES);
  });

  it("has the thirty-seven published tools and no other", () => {
    expect(Object.keys(PUBLISHED)).toHaveLength(37);
    expect(CONTRACTS.map(({ name }) => name).toSorted()).toEqual(Object.keys(PUBLISHED).toSorted());
  });

  it("ties each implementation to the catalogue's own contract", () => {
    for (const contract of CONTRACTS) expect(implementations.get(contract.name)?.contract).toBe(contract);
  });
});

describe.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
  "the contract of %s",
  (name, contract) => {
    const published = PUBLISHED[name];
    const schema = contract.params as unknown as Schema & { readonly required?: readonly string[] };

    it("has the published scope and every published parameter with its type, range and default", () => {
      expect(contract.scope).toBe(published?.scope);
      for (const [field, [type, required, bounds, value]] of Object.entries(published?.params ?? {})) {
        const given = schema.properties?.[field];
        if (given === undefined) throw new Error(`${field} is missing`);
        expect(given.type ?? given.anyOf?.[0]?.type, field).toBe(type);
        expect(schema.required?.includes(field) ?? false, field).toBe(required);
        if (value !== undefined) expect(given.default, field).toEqual(value);
        if (type === "integer" && bounds !== undefined && bounds !== null)
          expect([given.minimum, given.maximum], field).toEqual(bounds);
        if (type === "string" && bounds !== undefined && bounds !== null)
          expect(closedSet(given), field).toEqual(bounds);
      }
    });

    it("adds no parameter without a decision", () => {
      const allowed = new Set([...Object.keys(published?.params ?? {}), ...(ADDED.get(name) ?? [])]);
      expect(Object.keys(contract.params.properties).filter((field) => !allowed.has(field))).toEqual([]);
    });

    it("describes every parameter and every field of the result", () => {
      expect(undescribed(schema, "params")).toEqual([]);
      expect(undescribed(contract.result as unknown as Schema, "result")).toEqual([]);
    });

    it("names an existing target parameter and a deadline of 90 seconds at most", () => {
      const fields: readonly (string | undefined)[] = [...Object.keys(contract.params.properties), undefined];
      expect(fields).toContain(contract.target?.param);
      const defaults = Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([field, { default: value }]) => [field, value]),
      );
      expect(contract.deadlineMs(defaults as never)).toBeGreaterThan(0);
      expect(contract.deadlineMs(defaults as never)).toBeLessThanOrEqual(90_000);
    });
  },
);
