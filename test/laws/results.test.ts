import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { findings } from "#shared/tools/shapes.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Field {
  /** From the result's top, e.g. hops[].code. */
  readonly path: string;
  readonly name: string;
  readonly schema: Schema;
}

/** Every field of a schema at any depth. */
function fieldsOf(schema: Schema, path = ""): Field[] {
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      const own = path === "" ? name : `${path}.${name}`;
      return [{ path: own, name, schema: field }, ...fieldsOf(field, own)];
    }),
    ...(schema.items === undefined ? [] : fieldsOf(schema.items, `${path}[]`)),
    ...(schema.anyOf ?? []).flatMap((option) => fieldsOf(option, path)),
  ];
}

/** Tools whose findings still have a shape of their own. */
const PENDING = new Set(["cors", "csp"]);

const tools = CONTRACTS.map((contract) => ({ name: contract.name, result: contract.result as Schema }));

describe("every result", () => {
  it.each(tools)("$name has its duration as elapsed_ms, a whole number of milliseconds", ({ result }) => {
    expect(result.properties?.["elapsed_ms"]).toMatchObject({ type: "integer", minimum: 0 });
    expect(result.required).toContain("elapsed_ms");
  });

  it.each(tools)("$name calls an HTTP status code", ({ result }) => {
    const misnamed = fieldsOf(result)
      .filter(({ name }) => /^(status|status_code|http_status|http_code)$/.test(name))
      .filter(({ schema }) => [schema, ...(schema.anyOf ?? [])].some(({ type }) => type === "integer"))
      .map(({ path }) => path);
    expect(misnamed).toEqual([]);
  });

  it.each(tools.filter(({ name }) => !PENDING.has(name)))(
    "$name has findings in the one shape, at its top alone",
    ({ result }) => {
      const { items } = findings() as Schema;
      for (const { path, schema } of fieldsOf(result).filter(({ name }) => name === "findings")) {
        expect(path).toBe("findings");
        expect(schema.items).toEqual(items);
      }
    },
  );
});
