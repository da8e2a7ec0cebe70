import { Type } from "typebox";
import { Flag, Nullable } from "#shared/tools/fields.ts";
import { PageFields } from "#control-plane/http/params.ts";
import { CALL_PARAMS } from "#control-plane/checks/tool-requests/call-params.ts";

const IdField = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Id of the measurement",
  examples: ["msr_Y1x4QmZr8WcT2sVb"],
});

/** Body of POST /api/v4/measurements. */
export const CREATE = Type.Object({
  tool: Type.String({ minLength: 1, maxLength: 50, description: "Name of the tool, as the catalogue lists it" }),
  params: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: "object",
      maxProperties: 1_000,
      default: {},
      description: "The tool's own parameters",
    }),
  ),
  locations: CALL_PARAMS.properties.locations,
  share: CALL_PARAMS.properties.share,
  dry_run: CALL_PARAMS.properties.dry_run,
});

/** Query of POST /api/v4/measurements: two fields of the body that can also be given here. */
export const SWITCHES = Type.Object({
  dry_run: Type.Optional(Flag({ description: "As in the body" })),
  share: Type.Optional(Flag({ description: "As in the body" })),
});

/** Query of GET /api/v4/measurements: an id, or a page of the list. */
export const READ = Type.Object({ id: Type.Optional(IdField), ...PageFields });

/** Query of DELETE /api/v4/measurements. */
export const CANCEL = Type.Object({ id: IdField });

const STATUS = Type.Enum(["pending", "running", "completed", "failed", "cancelled"], {
  description: "failed: the measurement ended without a result at any location",
});
const Time = (description: string) => Nullable(Type.String({ format: "date-time", description }));
const SHARE_ID = Nullable(Type.String({ description: "Id of the public page /s/<id>; null if not shared" }));

/** Data of the answer to a creation. */
export const CREATED = Type.Object({
  id: IdField,
  status: STATUS,
  tool: Type.String({ description: "Name of the tool" }),
  total: Type.Integer({ description: "Locations it runs at" }),
  poll_url: Type.String({ description: "Path that returns its status and results, or streams its events" }),
  share_id: SHARE_ID,
});

/** A measurement in a list. */
export const LISTED = Type.Object({
  id: IdField,
  status: STATUS,
  tool: Type.String({ description: "Name of the tool" }),
  params: Type.Record(Type.String(), Type.Unknown(), { description: "Parameters of the tool, with defaults" }),
  total: Type.Integer({ description: "Locations it runs at" }),
  completed: Type.Integer({ description: "Locations that have a result" }),
  created_at: Type.String({ format: "date-time", description: "Time of the request" }),
  started_at: Time("Time of its first start"),
  finished_at: Time("Time of its end"),
  share_id: SHARE_ID,
});

/** A measurement with its results. */
export const SHOWN = Type.Object({
  ...LISTED.properties,
  progress_dropped: Type.Integer({
    description: "Progress events that were dropped because the limit of one measurement was reached",
  }),
  data: Type.Object(
    {
      locations: Type.Array(Type.Unknown(), {
        description: "Rows of the locations that have a result, as in the response of the tool with locations",
      }),
      summary: Type.Unknown({ description: "Summary of these rows, as in the response of the tool with locations" }),
    },
    { description: "Results so far" },
  ),
});
