import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { ACTIONS, ACTORS, RESOURCES } from "#control-plane/http/access/changes.ts";
import type { LoggedChange } from "#control-plane/accounts/changes/store.ts";

const Value = (when: string) =>
  Type.Unknown({
    description:
      `Value ${when}; null if there was none, or it was not stored then. "changed" in place of a secret. Of a value with ` +
      "more than 1,000 characters of JSON a text with the beginning",
  });

/** A change as the API shows it. */
export const CHANGE = Type.Object(
  {
    id: Type.Integer({ description: "Number of the change" }),
    at: Type.String({ format: "date-time", description: "Time of the change" }),
    actor: Type.Object(
      {
        kind: Type.Enum([...ACTORS], {
          description: "operator: the operator of the service; system: the service itself",
        }),
        id: Nullable(Type.Integer({ description: "Id of the API key, or of the member's user; null: other actors" })),
        name: Nullable(
          Type.String({
            description: "Label of the key or its first characters, or email address of the member; null: other actors",
          }),
        ),
      },
      { description: "Who changed it, as of then" },
    ),
    address: Nullable(Type.String({ description: "Address of the client; null: system" })),
    action: Type.Enum([...ACTIONS], { description: "What happened to it" }),
    subject: Type.Object(
      {
        kind: Type.Enum([...RESOURCES], { description: "What it is" }),
        id: Nullable(
          Type.Integer({ description: "Its id; null: an account has one at most, or all of them are meant" }),
        ),
        name: Nullable(
          Type.String({
            description:
              "What it was called then: the name, the title of an incident or a maintenance window, the slug of a status " +
              "page, the email address of an account or a member; null if it had none, or none was stored then",
          }),
        ),
      },
      { description: "What was changed" },
    ),
    changed: Type.Array(
      Type.Object({
        field: Type.String({ description: "Dotted name of the field" }),
        before: Value("before the change"),
        after: Value("after it"),
      }),
      { description: "Fields with another value, at most 50; [] for a creation and a deletion" },
    ),
  },
  { $id: "Change", description: "A change of an account" },
);

/** A change as the API shows it. */
export type ShownChange = ReturnType<typeof showChange>;

/** Returns a change as the API shows it. Of rows from before values were stored the names of fields are known. */
export function showChange(change: LoggedChange) {
  return {
    id: change.id,
    at: change.changedAt.toISOString(),
    actor: { kind: change.actorType, id: change.actorId, name: change.actorName },
    address: change.address,
    action: change.action,
    subject: { kind: change.resource, id: change.resourceId, name: change.resourceName },
    changed: change.changed ?? change.fields.map((field) => ({ field, before: null, after: null })),
  };
}
