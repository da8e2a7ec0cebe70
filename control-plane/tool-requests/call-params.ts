import { Type } from "typebox";
import type { Contract } from "#shared/tools/define.ts";
import { Flag } from "#shared/tools/fields.ts";

/** The parameters that every tool of v4 takes besides its own. */
export const CALL_PARAMS = Type.Object({
  locations: Type.Optional(
    Type.Unsafe<string | readonly string[]>({
      examples: ["all"],
      description:
        "Locations to run from: comma list (in JSON also an array) of region, country, continent, city, AS<number>, tag, " +
        "probe:<id> or all; + joins terms, ! negates, :n asks for n probes. Default: one probe",
      anyOf: [
        { type: "string", maxLength: 4_096 },
        { type: "array", items: { type: "string" }, maxItems: 50 },
      ],
    }),
  ),
  dry_run: Type.Optional(Flag({ description: "1: list the probes that would run the check; do not run it" })),
  share: Type.Optional(Flag({ description: "1: store the result; meta.share_id is the id of its public page" })),
});

/** The switches among them. */
export const SWITCHES = Type.Pick(CALL_PARAMS, ["dry_run", "share"]);

/** The names a call of a tool may use in v4: the tool's own parameters and those of every call. */
export function callNames({ params }: Contract): readonly string[] {
  return [...Object.keys(params.properties), ...Object.keys(CALL_PARAMS.properties)];
}
