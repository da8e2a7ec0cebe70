import type { Static } from "typebox";
import type { Change } from "#control-plane/access/changes.ts";
import type { Clock } from "#shared/clock.ts";
import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import type { Events } from "#control-plane/events/events.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { announceIncident } from "#control-plane/incidents/announcement.ts";
import { changeByHand, openByHand } from "#control-plane/incidents/incidents.ts";
import type { CHANGE, OPEN } from "#control-plane/incidents/schemas.ts";

/** Finds which of these ids belong to the account; unknown and foreign ids are missing. */
type OwnedIds = (sql: Queryable, accountId: number, ids: readonly number[]) => Promise<readonly number[]>;

/** Dependencies of the writes. */
export interface IncidentWritesDeps {
  readonly clock: Clock;
  readonly events: Events;
  readonly monitorsOf: OwnedIds;
  readonly pagesOf: OwnedIds;
}

/** Who writes: the account, and the name in timelines, e.g. "key deploy". */
interface Writer {
  readonly accountId: number;
  readonly by: string;
}

/** What a write of an incident leaves behind. */
export interface WrittenIncident {
  readonly id: number;
  /** When it was written. */
  readonly at: Date;
  readonly changes: readonly Change[];
}

/** Writes of people, in the caller's transaction, with all that follows: visitors are informed. They throw Refusal. */
export interface IncidentWrites {
  /** Opens an incident by hand. It names at least one monitor or page, and the account has all that it names. */
  open(tx: Transaction, writer: Writer, body: Static<typeof OPEN>): Promise<WrittenIncident>;
  /** Changes an incident of the account. */
  change(tx: Transaction, writer: Writer, id: number, change: Static<typeof CHANGE>): Promise<WrittenIncident>;
}

/** Creates the writes, which every surface for people and programs calls. */
export function createIncidentWrites({ clock, events, monitorsOf, pagesOf }: IncidentWritesDeps): IncidentWrites {
  return {
    async open(tx, { accountId, by }, body) {
      const { title, text, status = "investigating", impact = "minor", public: isPublic = true } = body;
      const monitorIds = [...new Set(body.monitor_ids)];
      const pageIds = [...new Set(body.page_ids)];
      requireNamed(body);
      await requireOwned(tx, accountId, monitorIds, monitorsOf, { field: "monitor_ids", what: "monitor" });
      await requireOwned(tx, accountId, pageIds, pagesOf, { field: "page_ids", what: "status page" });
      const opened = { accountId, title, text, status, impact, isPublic, monitorIds, pageIds };
      const at = clock.now();
      const incident = requireWritten(await openByHand(tx, opened, { by, at }));
      if (isPublic) await announceIncident(tx, events, { accountId, at, isNew: true, incident, text });
      const { id, title: name } = incident;
      return { id, at, changes: [{ resource: "incident", id, name, action: "created" }] };
    },
    async change(tx, { accountId, by }, id, change) {
      const at = clock.now();
      const written = await changeByHand(tx, accountId, id, change, { by, at });
      const { incident, published, changed } = requireWritten(written);
      if (published !== null) await announceIncident(tx, events, { accountId, at, incident, ...published });
      return { id, at, changes: [{ resource: "incident", id, name: incident.title, action: "changed", changed }] };
    },
  };
}

/** Refuses an incident that names neither a monitor nor a page. Throws Refusal. */
export function requireNamed({ monitor_ids: monitors = [], page_ids: pages = [] }: Static<typeof OPEN>): void {
  if (monitors.length + pages.length > 0) return;
  const message = "is required: name at least one monitor, or a status page in page_ids";
  throw refuseField({ field: "monitor_ids", reason: "required", message });
}

/** Refuses ids that the account does not have; the answer is the same for foreign and absent ones. */
async function requireOwned(
  tx: Transaction,
  accountId: number,
  ids: readonly number[],
  ownedIds: OwnedIds,
  { field, what }: { readonly field: string; readonly what: string },
): Promise<void> {
  if (ids.length === 0) return;
  const owned = new Set(await ownedIds(tx, accountId, ids));
  const missing = ids.find((id) => !owned.has(id));
  if (missing !== undefined) throw new Refusal("not_found", { field, message: `No ${what} has the id ${missing}.` });
}
