import { Type } from "typebox";
import { Flag, Nullable } from "#shared/tools/fields.ts";
import { PageFields } from "#control-plane/http/params.ts";
import { CALL_PARAMS } from "#control-plane/tool-requests/call-params.ts";

const IdField = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Id of the measurement",
  examples: ["msr_Y1x4QmZr8WcT2sVb"],
});

/** The body of POST /api/v4/measurements. */
export const CREATE = Type.Object({
  tool: Type.String({ minLength: 1, maxLength: 50, description: "Name of the tool, as the catalogue lists it" }),
  params: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: "object",
      default: {},
      description: "The tool's own parameters",
    }),
  ),
  locations: CALL_PARAMS.properties.locations,
  share: CALL_PARAMS.properties.share,
  dry_run: CALL_PARAMS.properties.dry_run,
});

/** Its switches may stand in the query as well. */
export const SWITCHES = Type.Object({
  dry_run: Type.Optional(Flag({ description: "As in the body" })),
  share: Type.Optional(Flag({ description: "As in the body" })),
});

/** The query of a list, or of one. */
export const READ = Type.Object({ id: Type.Optional(IdField), ...PageFields });

/** The query of a cancellation. */
export const CANCEL = Type.Object({ id: IdField });

const STATUS = Type.Enum(["pending", "running", "completed", "failed", "cancelled"], {
  description: "failed: it has ended and no location has an answer",
});
const Time = (description: string) => Nullable(Type.String({ format: "date-time", description }));
const SHARE_ID = Nullable(Type.String({ description: "Id of its public page /s/<id>; null: not shared" }));

/** What a creation answers with. */
export const CREATED = Type.Object({
  id: IdField,
  status: STATUS,
  tool: Type.String({ description: "Name of the tool" }),
  total: Type.Integer({ description: "Locations it runs at" }),
  poll_url: Type.String({ description: "Path that tells how it stands, or streams its events" }),
  share_id: SHARE_ID,
});

/** A measurement as lists show it. */
export const LISTED = Type.Object({
  id: IdField,
  status: STATUS,
  tool: Type.String({ description: "Name of the tool" }),
  params: Type.Record(Type.String(), Type.Unknown(), { description: "The tool's parameters, defaults filled in" }),
  total: Type.Integer({ description: "Locations it runs at" }),
  completed: Type.Integer({ description: "Locations that have a result" }),
  created_at: Type.String({ format: "date-time", description: "When it was asked for" }),
  started_at: Time("When it was first taken up"),
  finished_at: Time("When it ended"),
  share_id: SHARE_ID,
});

/** A measurement with its answer. */
export const SHOWN = Type.Object({
  ...LISTED.properties,
  progress_dropped: Type.Integer({ description: "Progress events beyond what is kept of one measurement" }),
  data: Type.Object(
    {
      locations: Type.Array(Type.Unknown(), {
        description: "As the tool answers with locations; those that have ended",
      }),
      summary: Type.Unknown({ description: "As the tool answers with locations, over those that have ended" }),
    },
    { description: "What is known so far" },
  ),
});
