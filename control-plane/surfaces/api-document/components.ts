import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { ERROR_ANSWER, META } from "#control-plane/http/operations/operation.ts";
import { componentName } from "#control-plane/tool-requests/component-name.ts";
import { measurementSchema } from "#control-plane/measurements/body-schema.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/recorded-examples.ts";

/** A reference to a tool's result, which every version and method answers with. */
export function resultRef(contract: Contract): string {
  return `${componentName(contract, "Result")}#`;
}

/** The data of a v4 call: the tool's own result, or another shape with `locations` or `dry_run`. */
export function callData(contract: Contract) {
  return Type.Union([Type.Ref(resultRef(contract)), Type.Ref("LocationsAnswer#"), Type.Ref("DryRun#")]);
}

const LOCATION = Type.Object(
  {
    probe_id: Type.String({ description: "Id of the probe" }),
    region: Type.String({ description: "Its region" }),
    country: Nullable(Type.String({ description: "Its country, ISO 3166-1 alpha-2" })),
    city: Nullable(Type.String({ description: "Its city" })),
    asn: Nullable(Type.Integer({ description: "Number of its network" })),
    latitude: Nullable(Type.Number({ description: "Degrees, north positive" })),
    longitude: Nullable(Type.Number({ description: "Degrees, east positive" })),
  },
  { $id: "Location", description: "Where a probe stands" },
);

const LOCATIONS_ANSWER = Type.Object(
  {
    locations: Type.Array(
      Type.Object({
        location: Type.Ref("Location#"),
        status: Type.Enum(["ok", "failed"], { description: "Whether the probe has an answer" }),
        data: Type.Optional(Type.Unknown({ description: "As the tool answers without locations" })),
        error: Type.Optional(Type.Unknown({ description: "As an error answer of the tool" })),
        duration_ms: Type.Integer({ description: "Milliseconds" }),
      }),
      { description: "One row a place" },
    ),
    summary: Type.Object(
      {
        total: Type.Integer({ description: "Places asked" }),
        ok: Type.Integer({ description: "Those with an answer" }),
        failed: Type.Integer({ description: "Those without" }),
        consistent: Nullable(
          Type.Boolean({ description: "All answers agree; null where there is nothing to compare" }),
        ),
      },
      { description: "And the spread (min, median, max) of each of the tool's figures" },
    ),
  },
  { $id: "LocationsAnswer", description: "With locations" },
);

const DRY_RUN = Type.Object(
  { locations: Type.Array(Type.Ref("Location#"), { description: "Where it would run" }) },
  { $id: "DryRun", description: "With dry_run" },
);

/** Registers what many operations share, so that the document says it once; call before any route. */
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
