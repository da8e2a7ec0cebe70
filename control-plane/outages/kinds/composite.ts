import { Type, type Static } from "typebox";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { OPTIONS, PROBED, problem, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { asked } from "#control-plane/outages/kinds/form-field.ts";

/** Which monitors a composite follows, and how many of them must be down. */
export interface CompositeSettings {
  readonly monitor_ids: readonly number[];
  readonly down_when: "any" | "all" | "percent";
  /** Least share of them that must be down, percent; null for other rules. */
  readonly percent: number | null;
}

/** Least number of monitors of a composite when they are set. */
export const LEAST_MEMBERS = 2;
const MOST_MEMBERS = 50;
/** Maximum length of the name of a monitor. */
const LONGEST_NAME = 200;

const MEMBERS =
  `${LEAST_MEMBERS} to ${MOST_MEMBERS} monitors of the account; other composites can be among them. Required for this ` +
  "check type. A deleted monitor leaves the list";

/** How many of its monitors must be down. */
const RULE = {
  down_when: Type.Optional(
    Type.Enum(["any", "all", "percent"], {
      description:
        "How many of them must be down until it is: any: one; all: each; percent: a share of all. One whose status is " +
        "unknown, or in maintenance, counts as not down. Default: any",
      ...asked("Down when these are down", "what"),
    }),
  ),
  percent: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        examples: [50],
        description: "percent: the least share that must be down, percent. Required for percent only. Default: null",
        ...asked("Share (percent)", "what"),
      }),
    ),
  ),
};

/** Which monitors it follows; omitted parts keep their values. */
const SCHEMA = Nullable(
  Type.Object(
    {
      monitor_ids: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
          maxItems: MOST_MEMBERS,
          examples: [[1, 2]],
          description: `Ids of ${MEMBERS}`,
          ...asked("Monitors", "what", { hint: "Their numbers, with spaces between them", input: "ids" }),
        }),
      ),
      ...RULE,
    },
    {
      additionalProperties: false,
      examples: [{ monitor_ids: [1, 2], down_when: "all" }],
      description: "composite: the monitors that it follows, and how many of them must be down",
    },
  ),
);

/** The same in a row of a document, in which monitors are named. */
const ROW_SCHEMA = Nullable(
  Type.Object(
    {
      monitors: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_NAME }), {
          maxItems: MOST_MEMBERS,
          description: `Names of the rows of ${MEMBERS}`,
        }),
      ),
      ...RULE,
    },
    { additionalProperties: false, description: "composite: the same, with names in place of ids" },
  ),
);

/** The options in a row of a document, in which the monitors are names. */
export type GivenComposite = Static<typeof ROW_SCHEMA>;

const DEFAULTS: CompositeSettings = { monitor_ids: [], down_when: "any", percent: null };

/** The statuses of other monitors: it is judged whenever one of them changes. */
export const composite = {
  ...PROBED,
  label: "Composite",
  watches: "the statuses of other monitors",
  target: null,
  options: {
    ...OPTIONS,
    schema: SCHEMA,
    readOnly: ["members"],
    references: { field: "monitor_ids", rowSchema: ROW_SCHEMA },
    defaults: () => DEFAULTS,
    read(given, present, defaults) {
      const parts = given as Partial<CompositeSettings> | null;
      if (parts === null) return { ok: true, value: defaults };
      const merged = { ...defaults, ...present, ...parts };
      // Another rule drops the share of the present one, unless the same request sets it.
      const isLeft = merged.down_when !== "percent" && parts.percent === undefined;
      return { ok: true, value: isLeft ? { ...merged, percent: null } : merged };
    },
  },
  findConflict: (_draft, options) => (options === null ? null : percentConflict(options)),
  probe: null,
  locations: "none",
  evidence: { ...PROBED.evidence, gathers: "nothing" },
  words: {
    ...PROBED.words,
    nameless: "composite",
    unchecked: "which follows the statuses of other monitors",
    opened: "Found down by the statuses of its monitors",
    recovered: "Found up by the statuses of its monitors",
    unexplained: "its monitors are down",
  },
} as const satisfies Kind<CompositeSettings>;

function percentConflict({ down_when: rule, percent }: CompositeSettings): FieldProblem | null {
  if (rule === "percent" && percent === null) {
    return problem("composite.percent", "required", "is required if down_when is percent");
  }
  if (rule !== "percent" && percent !== null) {
    return problem("composite.percent", "type", "must be left out unless down_when is percent");
  }
  return null;
}
