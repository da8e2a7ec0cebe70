import { Type } from "typebox";
import type { Contract } from "#shared/tools/define.ts";
import { MOST_LOCATIONS } from "#shared/internet/locations.ts";
import { Flag } from "#shared/tools/fields.ts";

/** Parameters that every tool takes in v4 in addition to its own. */
export const CALL_PARAMS = Type.Object({
  locations: Type.Optional(
    Type.Unsafe<string | readonly string[]>({
      examples: ["all"],
      description:
        "Locations to run from: comma list (in JSON also an array) of region, country, continent, city, AS<number>, tag, " +
        "probe:<id> or all; + joins terms, ! negates, :n asks for n probes. Default: one probe",
      anyOf: [
        { type: "string", maxLength: 4_096 },
        { type: "array", items: { type: "string", maxLength: 1_000 }, maxItems: MOST_LOCATIONS },
      ],
    }),
  ),
  dry_run: Type.Optional(Flag({ description: "1: list the probes that would run the check; do not run it" })),
  share: Type.Optional(Flag({ description: "1: store the result; meta.share_id is the id of its public page" })),
});

/** Boolean parameters of every call. */
export const SWITCHES = Type.Pick(CALL_PARAMS, ["dry_run", "share"]);

/** Returns the parameter names of a tool's call in v4: the tool's own and those of every call. */
export function callParamNames({ params }: Contract): readonly string[] {
  return [...Object.keys(params.properties), ...Object.keys(CALL_PARAMS.properties)];
}
