import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { ACTIONS, ACTORS, RESOURCES } from "#control-plane/access/changes.ts";
import type { LoggedChange } from "#control-plane/changes/store.ts";

/** A change as the API shows it. */
export const CHANGE = Type.Object(
  {
    id: Type.Integer({ description: "Number of the change" }),
    at: Type.String({ format: "date-time", description: "Time of the change" }),
    actor: Type.Object(
      {
        type: Type.Enum([...ACTORS], {
          description: "operator: the operator of the service; system: the service itself",
        }),
        id: Nullable(Type.Integer({ description: "Id of the API key, or of the member's user; null: other actors" })),
        name: Nullable(
          Type.String({
            description: "Label of the key or its first characters, or email address of the member; null: other actors",
          }),
        ),
      },
      { description: "Who changed it" },
    ),
    address: Nullable(Type.String({ description: "Address of the client; null: system" })),
    resource: Type.Enum([...RESOURCES], { description: "What was changed" }),
    resource_id: Nullable(Type.Integer({ description: "Its id; null: an account has one at most" })),
    action: Type.Enum([...ACTIONS], { description: "What happened to it" }),
    fields: Type.Array(Type.String(), { description: "Names of the fields that the request contained" }),
  },
  { $id: "Change", description: "A change of an account" },
);

/** A change as the API shows it. */
export type ShownChange = ReturnType<typeof showChange>;

/** Returns a change as the API shows it. */
export function showChange(change: LoggedChange) {
  return {
    id: change.id,
    at: change.changedAt.toISOString(),
    actor: { type: change.actorType, id: change.actorId, name: change.actorName },
    address: change.address,
    resource: change.resource,
    resource_id: change.resourceId,
    action: change.action,
    fields: change.fields,
  };
}
