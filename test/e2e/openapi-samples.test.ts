import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { ADMIN_TOKEN, startControlPlane, type Answer } from "#test/support/control-plane.ts";
import { operationsOf, type ApiOperation } from "#test/support/openapi-samples.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

interface Branch {
  readonly examples?: readonly unknown[];
  readonly properties: Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>>;
}

const plane = await stopAfterAll(
  startControlPlane({ plans: WIDE_PLANS, config: { openPerMinute: 100_000, openPerDay: 100_000 } }),
);
const document = JSON.parse((await plane.call("/openapi.json")).text) as {
  readonly components: { readonly schemas: Readonly<Record<string, Branch>> };
};
const operations = operationsOf(document);

type Values = Readonly<Record<string, unknown>>;

/** Sends one operation with these values in its query and body, with the key or as the operator. */
function send(operation: ApiOperation, key: string, query: Values, body: unknown): Promise<Answer> {
  const { method, path, pathParameters } = operation;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathParameters[name] ?? "");
  const search = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)] as const)),
  );
  const headers = path.startsWith("/api/admin") ? { authorization: `Bearer ${ADMIN_TOKEN}` } : { "x-api-key": key };
  return plane.call(`${filled}?${search.toString()}`, {
    method: method.toUpperCase(),
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns why the values were refused; null if they were accepted, even if the call then failed without an agent. */
function refusalIn({ status, text, body }: Answer): string | null {
  // A second creation of the same account is refused because it exists, not because of its form.
  if (status !== 400 || (body.error as { reason?: string } | undefined)?.reason === "duplicate") return null;
  // The samples name a monitor that this account does not have.
  if (text.includes("no monitor of your account has this id")) return null;
  return text.slice(0, 300);
}

describe("the samples of the OpenAPI document", () => {
  it("exist for every required parameter and body", () => {
    expect(operations.flatMap(({ id, unsampled }) => unsampled.map((name) => `${id}: ${name}`))).toEqual([]);
  });

  it("are accepted by the API: samples, defaults, and each of them alone", async () => {
    const refused: string[] = [];
    const key = await plane.createKey();
    const isRest = ({ path }: ApiOperation) => path !== "/mcp";
    // The operator's operations are last: one of them deletes the first account, and the key with it.
    const inOrder = operations
      .filter(isRest)
      .toSorted(
        (one, other) => Number(one.path.startsWith("/api/admin")) - Number(other.path.startsWith("/api/admin")),
      );
    let sent = 0;
    for (const operation of inOrder) {
      const { id, query, body, optional, fields } = operation;
      const calls: readonly (readonly [what: string, query: Values, body: unknown])[] = [
        ["sample", query, body],
        ...optional.map(([name, value]) => [name, { ...query, [name]: value }, body] as const),
        ...fields.map(([name, value]) => [name, query, { ...(body as Values), [name]: value }] as const),
      ];
      for (const [what, inQuery, inBody] of calls) {
        sent += 1;
        // oxlint-disable-next-line no-await-in-loop -- writes build on one another
        const refusal = refusalIn(await send(operation, key, inQuery, inBody));
        if (refusal !== null) refused.push(`${id}, ${what}: ${refusal}`);
      }
    }
    expect(refused).toEqual([]);
    expect(sent).toBeGreaterThan(300);
  });

  it("of a measurement are one for each tool, with the tool's own parameters", async () => {
    const key = await plane.createKey();
    const measurement = operations.find(({ id }) => id === "create_measurement");
    for (const { name, params } of CONTRACTS) {
      const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
      const branch = document.components.schemas[`${words.join("")}Measurement`];
      expect(Object.keys(branch?.properties["params"]?.properties ?? {}), name).toEqual(Object.keys(params.properties));
      const [sample] = branch?.examples ?? [];
      expect(sample, name).toMatchObject({ tool: name });
      if (measurement === undefined) throw new Error("POST /api/v4/measurements is not documented");
      // oxlint-disable-next-line no-await-in-loop
      expect(refusalIn(await send(measurement, key, { dry_run: 1 }, sample)), name).toBeNull();
    }
  });

  it("are distinguished by tool: the body is one of the tools', each named in the discriminator", () => {
    const { paths } = document as unknown as {
      paths: Record<string, { post: { requestBody: { content: Record<string, { schema: unknown }> } } }>;
    };
    const schema = paths["/api/v4/measurements"]?.post.requestBody.content["application/json"]?.schema as {
      readonly oneOf: readonly { readonly $ref: string }[];
      readonly discriminator: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
    };
    expect(schema.discriminator.propertyName).toBe("tool");
    expect(Object.keys(schema.discriminator.mapping)).toEqual(CONTRACTS.map(({ name }) => name));
    expect(Object.values(schema.discriminator.mapping)).toEqual(schema.oneOf.map(({ $ref }) => $ref));
  });
});

describe("the descriptions of the OpenAPI document", () => {
  it("have no character that Markdown would read as markup", () => {
    const texts: string[] = [];
    const collect = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (key === "description" && typeof inner === "string") texts.push(inner);
        else if (!["example", "examples", "default"].includes(key)) collect(inner);
      }
    };
    collect(document);
    expect(texts.length).toBeGreaterThan(1_000);
    const outsideCode = texts.map((text) => text.replaceAll(/`[^`]*`/g, "").replaceAll(/\\[^\p{L}\p{N}\s]/gu, "."));
    expect(outsideCode.filter((text) => /[<*[\]|~]|(?<!\w)_|_(?!\w)/.test(text))).toEqual([]);
    expect(texts.some((text) => text.includes(String.raw`probe:\<id\>`))).toBe(true);
  });
});
