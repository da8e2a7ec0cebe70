import { Type } from "typebox";
import { Flag } from "#shared/tools/fields.ts";
import { IdField, PageFields } from "#control-plane/http/params.ts";
import { CHECK_TYPES } from "#control-plane/outages/kinds/kinds.ts";

/** Query of reads before v4. */
export const OLD_READ = Type.Object({
  id: Type.Optional({ ...IdField, description: "Id of a monitor to read with its newest checks" }),
  ...PageFields,
  status: Type.Optional(Type.Enum(["up", "down", "unknown"], { description: "List only monitors with this status" })),
});

/** Filters of lists. */
export const FILTERS = Type.Object({
  status: OLD_READ.properties.status,
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: "List only monitors with this tag" })),
  check_type: Type.Optional(Type.Enum([...CHECK_TYPES], { description: "List only monitors of this type" })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: "List only monitors whose name or url contains this text",
    }),
  ),
});

/** Query of reads, without actions. */
export const READ = Type.Object({ ...OLD_READ.properties, ...FILTERS.properties });

/** Returns the schema of the action of a read; `names` are those of further reads. */
export function readActionSchema(names: readonly string[]) {
  return Type.Object({
    action: Type.Optional(
      Type.Enum(["export", ...names], {
        description: [
          "export: all monitors, status pages and maintenance as a document for an import",
          ...names.map((name) => `${name}: of one id`),
        ].join("; "),
      }),
    ),
  });
}

/** Query of POST. */
export const POST_QUERY = Type.Object({
  action: Type.Optional(
    Type.Enum(["try", "run", "rotate", "accept", "test-mail", "import"], {
      description:
        "try: run the monitor of the body once, or the monitor id as the body would change it, and record nothing, six times a minute; run: check the monitor id now; " +
        "rotate: replace the address of the heartbeat id, and the present one stops working; accept: compare with the newest picture of the visual monitor id from now on; test-mail: send a test mail to every address of the " +
        "monitor id, once a minute, and wait for the results; import: take over a document. Default: create one",
    }),
  ),
  id: Type.Optional({
    ...IdField,
    description: "run, rotate, accept and test-mail: id of the monitor; try: id of the one to try with changes",
  }),
  dry_run: Type.Optional(
    Flag({ description: "import: 1 checks the document, says what it would do, and changes nothing" }),
  ),
});

/** Query of PUT. */
export const PUT_QUERY = Type.Object({
  action: Type.Optional(
    Type.Enum(["bulk"], {
      description: "bulk: change many monitors in the same way, all or none. Default: change one",
    }),
  ),
  id: Type.Optional({ ...IdField, description: "Id of the monitor; required to change one" }),
});

/** Query of an export. */
export const EXPORT_QUERY = Type.Object({
  secrets: Type.Optional(
    Type.Enum(["include"], {
      description:
        "export: include has the request headers and bodies too, which are secrets, and is noted in the log of " +
        "changes. By default a row names those that it leaves out in secrets_missing",
    }),
  ),
});
