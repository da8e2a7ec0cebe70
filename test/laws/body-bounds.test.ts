import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { unboundedIn, type Bounded } from "#test/laws/unbounded.ts";

// What has no greatest size cannot be refused by its size, and its check takes as long as its sender likes.

let plane: TestControlPlane;
let document: Document;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Bounded>> };
}

interface Described {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Bounded }>> };
}

beforeAll(async () => {
  plane = await startControlPlane();
  document = JSON.parse((await plane.call("/openapi.json")).text) as Document;
});
afterAll(() => plane?.stop());

describe("every list, text and record of a request has a greatest size", () => {
  it("in the bodies of all operations", () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const bodies = operations.flatMap(({ operationId, requestBody }) =>
      Object.values(requestBody?.content ?? {}).map(({ schema }) => [operationId, schema] as const),
    );
    expect(bodies.length).toBeGreaterThan(20);
    const schemaOf = (reference: string): Bounded =>
      document.components.schemas[reference.split("/").at(-1) ?? ""] ?? {};
    expect(bodies.flatMap(([id, schema]) => unboundedIn(id, schema, schemaOf))).toEqual([]);
  });

  it("in the parameters of all tools", () => {
    expect(CONTRACTS.flatMap(({ name, params }) => unboundedIn(name, params as Bounded))).toEqual([]);
  });
});

describe("the law", () => {
  it.each<readonly [string, Bounded]>([
    ["a list", { type: "array", items: { type: "integer" } }],
    ["a list in a list", { type: "array", maxItems: 3, items: { type: "array", items: { type: "integer" } } }],
    ["a text", { type: "object", properties: { name: { type: "string" } } }],
    ["a record", { type: "object", patternProperties: { "^.*$": { type: "integer" } } }],
    ["an object that may have more members", { type: "object", additionalProperties: { type: "integer" } }],
    ["an alternative", { anyOf: [{ type: "null" }, { type: "string" }] }],
  ])("finds %s without one", (_what, schema) => {
    expect(unboundedIn("body", schema)).toHaveLength(1);
  });
});
