import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runPeer } from "#test/peers/run-peer.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { operationsOf, type ApiOperation } from "#test/support/openapi-samples.ts";

// A client as a user makes one: types generated from the live document by openapi-typescript, and one call of every
// operation, with the document's own samples, through openapi-fetch. The compiler must accept all of it.
const MODULES = fileURLToPath(new URL("programs/node_modules", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "vantage-client-"));

let plane: TestControlPlane;
let operations: readonly ApiOperation[];

beforeAll(async () => {
  plane = await startControlPlane();
  const { text } = await plane.call("/openapi.json");
  operations = operationsOf(JSON.parse(text));
  writeFileSync(join(folder, "openapi.json"), text);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        target: "ES2022",
        lib: ["ES2022", "DOM"],
        module: "ESNext",
        moduleResolution: "Bundler",
        types: [],
        paths: { "openapi-fetch": [join(MODULES, "openapi-fetch")] },
      },
      include: ["*.ts"],
    }),
  );
});
afterAll(async () => {
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** One typed call of an operation; its answer is read, so that the types of answers are checked as well. */
function callOf({ id, method, path, query, pathParameters, body }: ApiOperation): string {
  const params = {
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(Object.keys(pathParameters).length === 0 ? {} : { path: pathParameters }),
  };
  const init = JSON.stringify({
    ...(Object.keys(params).length === 0 ? {} : { params }),
    ...(body === undefined ? {} : { body }),
  });
  return `export async function ${id}(): Promise<unknown> {
  const { data, error } = await client.${method.toUpperCase()}(${JSON.stringify(path)}, ${init});
  return data ?? error;
}`;
}

function compile(): ReturnType<typeof runPeer> {
  return runPeer("tsc", ["--project", folder]);
}

describe("a client generated from the OpenAPI document", () => {
  it("compiles, with one call of every operation", async () => {
    const generated = await runPeer("openapi-typescript", [
      join(folder, "openapi.json"),
      "--output",
      join(folder, "api.d.ts"),
    ]);
    expect(generated.status, generated.output).toBe(0);
    const calls = operations.map(callOf);
    expect(calls.length).toBeGreaterThan(100);
    writeFileSync(
      join(folder, "calls.ts"),
      [
        'import createClient from "openapi-fetch";',
        'import type { paths } from "./api.d.ts";',
        'const client = createClient<paths>({ baseUrl: "http://127.0.0.1:8080" });',
        ...calls,
      ].join("\n"),
    );
    const { status, output } = await compile();
    expect(status, output.slice(0, 4_000)).toBe(0);
  });

  it("refuses at compile time a tool that does not exist and a parameter of another tool", async () => {
    const wrong = (name: string, body: object) =>
      `export const ${name} = () => client.POST("/api/v4/measurements", { body: ${JSON.stringify(body)} });`;
    writeFileSync(
      join(folder, "wrong.ts"),
      [
        'import createClient from "openapi-fetch";',
        'import type { paths } from "./api.d.ts";',
        "const client = createClient<paths>();",
        wrong("unknownTool", { tool: "nonsense", params: { host: "example.com" } }),
        wrong("foreignParameter", { tool: "check", params: { host: "example.com" } }),
        wrong("missingParameter", { tool: "ping", params: {} }),
      ].join("\n"),
    );
    const { status, output } = await compile();
    expect(status).not.toBe(0);
    for (const line of [4, 5, 6]) expect(output).toContain(`wrong.ts(${line},`);
    expect(output).not.toContain("calls.ts");
  });
});
