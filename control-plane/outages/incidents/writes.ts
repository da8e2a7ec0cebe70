import type { Static } from "typebox";
import type { App } from "#control-plane/core/app.ts";
import type { Change } from "#control-plane/http/access/changes.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { refuseProblem, refuseWrite, type Refused, type Written } from "#control-plane/http/written.ts";
import { announceIncident } from "#control-plane/outages/incidents/announcement.ts";
import { changeByHand, openByHand } from "#control-plane/outages/incidents/incidents.ts";
import type { CHANGE, OPEN } from "#control-plane/outages/incidents/schemas.ts";

/** Finds which of these ids belong to the account; unknown and foreign ids are missing. */
type OwnedIds = (sql: Queryable, accountId: number, ids: readonly number[]) => Promise<readonly number[]>;

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

/** Writes of people, in the caller's transaction, with all that follows: visitors are informed. */
export interface IncidentWrites {
  /** Opens an incident by hand. It names at least one monitor or page, and the account has all that it names. */
  open(tx: Transaction, writer: Writer, body: Static<typeof OPEN>): Promise<Written<WrittenIncident>>;
  /** Changes an incident of the account. */
  change(tx: Transaction, writer: Writer, id: number, change: Static<typeof CHANGE>): Promise<Written<WrittenIncident>>;
}

/** Creates the writes, which every surface for people and programs calls. */
export function createIncidentWrites({
  clock,
  events,
  monitorsOf,
  pagesOf,
}: Pick<App, "clock"> & {
  readonly events: Events;
  readonly monitorsOf: OwnedIds;
  readonly pagesOf: OwnedIds;
}): IncidentWrites {
  return {
    async open(tx, { accountId, by }, body) {
      const { title, text, status = "investigating", impact = "minor", public: isPublic = true } = body;
      const monitorIds = [...new Set(body.monitor_ids)];
      const pageIds = [...new Set(body.page_ids)];
      const problem = problemOfNames(body);
      if (problem !== null) return refuseProblem(problem);
      const refused =
        (await findForeign(tx, accountId, monitorIds, monitorsOf, { field: "monitor_ids", what: "monitor" })) ??
        (await findForeign(tx, accountId, pageIds, pagesOf, { field: "page_ids", what: "status page" }));
      if (refused !== null) return refused;
      const opened = { accountId, title, text, status, impact, isPublic, monitorIds, pageIds };
      const at = clock.now();
      const written = await openByHand(tx, opened, { by, at });
      if (!written.ok) return written;
      const incident = written.value;
      if (isPublic) await announceIncident(tx, events, { accountId, at, isNew: true, incident, text });
      const { id, title: name } = incident;
      return { ok: true, value: { id, at, changes: [{ resource: "incident", id, name, action: "created" }] } };
    },
    async change(tx, { accountId, by }, id, change) {
      const at = clock.now();
      const written = await changeByHand(tx, accountId, id, change, { by, at }, (pageIds) =>
        findForeign(tx, accountId, pageIds, pagesOf, { field: "page_ids", what: "status page" }),
      );
      if (!written.ok) return written;
      const { incident, published, changed } = written.value;
      if (published !== null) await announceIncident(tx, events, { accountId, at, incident, ...published });
      const { title: name } = incident;
      return { ok: true, value: { id, at, changes: [{ resource: "incident", id, name, action: "changed", changed }] } };
    },
  };
}

/** Returns what is wrong with an incident that names neither a monitor nor a page; null if it names one. */
export function problemOfNames({
  monitor_ids: monitors = [],
  page_ids: pages = [],
}: Static<typeof OPEN>): FieldProblem | null {
  if (monitors.length + pages.length > 0) return null;
  const message = "is required: name at least one monitor, or a status page in page_ids";
  return { field: "monitor_ids", reason: "required", message };
}

/** Refuses ids that the account does not have; the answer is the same for foreign and absent ones. null if it has all. */
async function findForeign(
  tx: Transaction,
  accountId: number,
  ids: readonly number[],
  ownedIds: OwnedIds,
  { field, what }: { readonly field: string; readonly what: string },
): Promise<Refused | null> {
  if (ids.length === 0) return null;
  const owned = new Set(await ownedIds(tx, accountId, ids));
  const missing = ids.find((id) => !owned.has(id));
  if (missing === undefined) return null;
  return refuseWrite({ code: "not_found", field, message: `No ${what} has the id ${missing}.` });
}
