import { Type } from "typebox";
import { CHANGE, RECORD } from "#control-plane/monitors/settings/fields.ts";

/** Maximum number of monitors that one request changes. */
export const MOST_IDS = 1_000;

const { name: _name, url: _url, check_type: _type, ...SHARED } = CHANGE.properties;

/** The fields of a change that say what one monitor is. */
export const SINGLE: ReadonlySet<string> = new Set(["name", "url", "check_type"]);

/** The fields that many monitors get. */
export const SET = Type.Object(
  {
    ...SHARED,
    tags_add: Type.Optional({ ...RECORD.properties.tags, description: "Labels to add; each monitor keeps its own" }),
    tags_remove: Type.Optional({ ...RECORD.properties.tags, description: "Labels to take away, where they are" }),
  },
  {
    description:
      "Fields of a change of one monitor, but for name, url, check_type and composite.monitor_ids, which say what one " +
      "monitor is. A monitor whose check type does not have a field is a problem",
  },
);

const IDS = Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
  minItems: 1,
  maxItems: MOST_IDS,
  examples: [[1, 2]],
  description: "Ids of the monitors to change",
});

const DRY_RUN = Type.Optional(
  Type.Boolean({ default: false, description: "true says what would change, and changes nothing" }),
);

/** Body of a change of many. */
export const BULK_BODY = Type.Object({ ids: IDS, set: SET, dry_run: DRY_RUN });

/** The same as it is parsed first: the fields are parsed apart, so that all their problems are found. */
export const BULK_OUTLINE = Type.Object({ ids: IDS, set: Type.Object({}), dry_run: DRY_RUN });
