import { readFileSync } from "node:fs";
import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";
import { ERROR_ANSWER, META } from "#control-plane/http/operations/operation.ts";
import { componentName } from "#control-plane/checks/tool-requests/component-name.ts";
import { measurementSchema } from "#control-plane/checks/measurements/body-schema.ts";

/** A recorded call of a tool and its result, with long lists and texts cut. */
interface Example {
  readonly params: Readonly<Record<string, string | number | boolean>>;
  /** As `data` of an answer. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Has a folder for each tool, with its example. */
const TOOLS = new URL("../../../shared/tools/", import.meta.url);
const EXAMPLES = readAll();

/** Returns the example of a tool; null if none is recorded (test/examples/update.ts records them). */
export function exampleOf(tool: string): Example | null {
  return EXAMPLES.get(tool) ?? null;
}

/** Reads all examples, once at the start of the process: the files are part of the release. */
function readAll(): ReadonlyMap<string, Example> {
  return new Map(
    TOOL_NAMES.map((name) => {
      const text = readFileSync(new URL(`${name}/example.json`, TOOLS), "utf8");
      return [name, JSON.parse(text) as Example] as const;
    }),
  );
}

/** Returns a reference to the result schema of a tool, shared by all versions and methods. */
export function resultRef(contract: Contract): string {
  return `${componentName(contract, "Result")}#`;
}

/** Returns the schema of `data` of a v4 call: the tool's result, or the shapes of `locations` and `dry_run`. */
export function callData(contract: Contract) {
  return Type.Union([Type.Ref(resultRef(contract)), Type.Ref("LocationsAnswer#"), Type.Ref("DryRun#")]);
}

const LOCATION = Type.Object(
  {
    probe_id: Type.String({ description: "Id of the probe" }),
    region: Type.String({ description: "Its region" }),
    country: Nullable(Type.String({ description: "Country of the probe, ISO 3166-1 alpha-2" })),
    city: Nullable(Type.String({ description: "Its city" })),
    asn: Nullable(Type.Integer({ description: "AS number of the probe's network" })),
    latitude: Nullable(Type.Number({ description: "Degrees, north positive" })),
    longitude: Nullable(Type.Number({ description: "Degrees, east positive" })),
  },
  { $id: "Location", description: "Location of a probe" },
);

const LOCATIONS_ANSWER = Type.Object(
  {
    locations: Type.Array(
      Type.Object({
        location: Type.Ref("Location#"),
        status: Type.Enum(["ok", "failed"], {
          description: "ok: data holds the result. failed: error holds the cause",
        }),
        data: Type.Optional(Type.Unknown({ description: "Result of the tool, as without locations" })),
        error: Type.Optional(Type.Unknown({ description: "Error of the tool, as without locations" })),
        duration_ms: Type.Integer({ description: "Milliseconds" }),
      }),
      { description: "One row for each probe that was asked" },
    ),
    summary: Type.Object(
      {
        total: Type.Integer({ description: "Places asked" }),
        ok: Type.Integer({ description: "Number of rows with status ok" }),
        failed: Type.Integer({ description: "Those without" }),
        consistent: Nullable(
          Type.Boolean({ description: "Whether all results agree; null if there is nothing to compare" }),
        ),
      },
      { description: "Counts over all rows, and min, median and max of each number of the tool" },
    ),
  },
  { $id: "LocationsAnswer", description: "Response to a call with locations" },
);

const DRY_RUN = Type.Object(
  { locations: Type.Array(Type.Ref("Location#"), { description: "Probes that would run the check" }) },
  { $id: "DryRun", description: "Response to a call with dry_run" },
);

/** Registers the schemas that many operations share; call before any route. */
export function addComponents(server: FastifyInstance, contracts: readonly Contract[]): void {
  server.addSchema(META);
  for (const shared of [ERROR_ANSWER, LOCATION, LOCATIONS_ANSWER, DRY_RUN]) server.addSchema(shared);
  for (const contract of contracts) {
    const example = exampleOf(contract.name);
    server.addSchema(measurementSchema(contract));
    server.addSchema({
      $id: componentName(contract, "Result"),
      title: contract.title,
      ...contract.result,
      ...(example === null ? {} : { examples: [example.data] }),
    });
  }
}
